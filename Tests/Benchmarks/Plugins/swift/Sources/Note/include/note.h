#pragma once
void noop_note_is_linked(void);
