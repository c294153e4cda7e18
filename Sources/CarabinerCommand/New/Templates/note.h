#pragma once
/* For this library only: names that are exported are everybody's. */
__attribute__((visibility("hidden"))) void note_is_linked(void);
