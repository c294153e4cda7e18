#include "note.h"

#include <carabiner.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.token-auth\",\"version\":\"1.0.0\",\"abi\":[1,0]" CRB_NOTE_SWIFT "}");

/* A symbol that the library references. Without a reference the linker would leave out this object file and its note. */
void token_auth_note_is_linked(void) {}
