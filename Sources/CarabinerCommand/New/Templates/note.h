#pragma once
/* Not exported: exported names could clash with those of other libraries. */
__attribute__((visibility("hidden"))) void note_is_linked(void);
