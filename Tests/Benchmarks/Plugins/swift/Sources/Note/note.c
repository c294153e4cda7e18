#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.bench.noop.swift\",\"version\":\"1.0.0\",\"abi\":[1,0]" CRB_NOTE_SWIFT "}");

/* Swift code refers to this function. Otherwise the linker leaves out the object file and its note. */
void noop_note_is_linked(void) {}
