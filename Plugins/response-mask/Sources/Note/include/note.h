#pragma once
/* Hidden, because exported names are shared by all libraries. */
__attribute__((visibility("hidden"))) void response_mask_note_is_linked(void);
