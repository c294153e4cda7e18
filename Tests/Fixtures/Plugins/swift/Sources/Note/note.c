#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.kit\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]" CRB_NOTE_SWIFT "}");

/* Swift code refers to this function. Otherwise the linker leaves out the object file and its note. */
void kit_note_is_linked(void) {}
