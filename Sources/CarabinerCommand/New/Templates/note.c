#include "note.h"

#include <carabiner.h>

/* The plugin's identity, which the host reads without running code. It must match Interceptor.swift. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]" CRB_NOTE_SWIFT "}");

/* Referenced by the plugin's entry. Without a reference the linker would omit this object file and its note. */
void note_is_linked(void) {}
