#include "program.h"

/* Package.swift defines them from the environment. */
#ifndef CARABINER_COMMIT
#define CARABINER_COMMIT ""
#endif
#ifndef CARABINER_SWIFT
#define CARABINER_SWIFT ""
#endif

static int argument_count;
static char **arguments;

/* The C library calls constructors with the arguments of main(). */
__attribute__((constructor)) static void note_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}

int CProgram_argumentCount(void) { return argument_count; }

const char *CProgram_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : ""; }

const char *CProgram_commit(void) { return CARABINER_COMMIT; }

const char *CProgram_swiftVersion(void) { return CARABINER_SWIFT; }
