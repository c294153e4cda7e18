#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.response-mask\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

/* A symbol that the library references. Without a reference the linker would leave out this object file and its note. */
void response_mask_note_is_linked(void) {}
