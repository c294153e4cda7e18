#pragma once
void kit_note_is_linked(void);
