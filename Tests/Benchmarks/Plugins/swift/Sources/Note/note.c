#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.bench.noop.swift\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

/* Something for the linker to want: without it the object file and its note would be left out of the library. */
void noop_note_is_linked(void) {}
