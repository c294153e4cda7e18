#include "program.h"

#define TEXT_BYTES 64

/* Scripts/install writes both texts into the program that it installs.  As settings of the build, they would let each commit link again. */
static const volatile struct {
  char commit[TEXT_BYTES];
  char swift_version[TEXT_BYTES];
} build __attribute__((section("carabiner_build"), used)) = {"", ""};

static int argument_count;
static char **arguments;

/* The C library calls constructors with the arguments of main(). */
__attribute__((constructor)) static void note_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}

int CProgram_argumentCount(void) { return argument_count; }

const char *CProgram_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : ""; }

const char *CProgram_commit(void) { return (const char *)build.commit; }

const char *CProgram_swiftVersion(void) { return (const char *)build.swift_version; }
