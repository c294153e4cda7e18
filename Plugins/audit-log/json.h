/* JSON: the members of the configuration, and the text of a line. */
#ifndef AUDIT_LOG_JSON_H
#define AUDIT_LOG_JSON_H

#include <carabiner.h>
#include <stddef.h>

/* The value of a member of an object, or {NULL, 0}. The host has validated the text. */
crb_view json_member(crb_view object, const char *name);
/* The next element of a list; `*at` begins with 0. Returns 0 after the last one. */
int json_element(crb_view list, size_t *at, crb_view *out);
/* Copies a string without quotes and escapes, with a NUL. Returns its length, or -1 if it has a NUL, is too long or is not a string. */
int json_string(crb_view value, char *out, size_t limit);

/* A text that is written up to its limit. A part that does not fit is left out as a whole, and `is_full` is set. */
typedef struct text {
  char *bytes;
  size_t length, limit;
  int is_full;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a JSON string of at most `most` bytes of the view, cut between characters. Bytes that are not UTF-8 become U+FFFD. */
void text_add_string(text *t, crb_view value, size_t most);
/* Adds JSON as it is, without line breaks. */
void text_add_json(text *t, crb_view value);

#endif
