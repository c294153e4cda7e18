#pragma once
void token_auth_note_is_linked(void);
