#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.kit\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}");

/* Something for the linker to want: without it the object file and its note would be left out of the library. */
void kit_note_is_linked(void) {}
