#include "note.h"

#include <carabiner.h>

/* Who the plugin is, readable without running anything; the same as in Interceptor.swift. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

/* Something for the linker to want: without it the object file and its note would be left out of the library. */
void note_is_linked(void) {}
