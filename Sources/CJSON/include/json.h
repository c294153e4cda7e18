/* Checks JSON 64 bytes at a time, according to RFC 8259, and follows responses that arrive in pieces. A byte of the text is a bit in masks, so
 * one instruction handles 64 bytes.
 *
 * The functions only say whether a text is JSON. JSONScanner finds the first fault of a text that is refused. */
#ifndef CJSON_H
#define CJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text with containers nested deeper than this is refused, whatever limit the caller sets. */
enum { CJSON_DEEPEST = 1024 };

/* The kinds of entries, with the numbers and in the order of JSONTape.Kind. */
enum CJSON_kind { CJSON_NULL, CJSON_SCALAR, CJSON_STRING, CJSON_ESCAPED_STRING, CJSON_OBJECT, CJSON_ARRAY };

/* A value or a name. JSONTape.Entry has the same layout. */
struct CJSON_entry {
  uint8_t kind;
  int32_t start, end, next;
};

/* The places of a member. A name is without its quotes, a string that is a value has them. */
struct CJSON_member {
  size_t nameStart, nameEnd, valueStart, valueEnd;
};
typedef void (*CJSON_visit)(void *context, struct CJSON_member member);

/* The most entries that the tape of a text can have. */
size_t CJSON_mostEntries(const uint8_t *bytes, size_t count);

/* Checks a text and writes its tape. Returns the number of entries; -1 if the text is not JSON, is nested deeper than `deepest`, has more
 * than `most` entries, or has 2 GiB or more. */
ptrdiff_t CJSON_record(const uint8_t *bytes, size_t count, size_t deepest, struct CJSON_entry *entries, size_t most);

/* Checks a text and calls `visit` for each member of its outermost object. Returns 1 for an object and 0 for another value; -1 if the text
 * is not JSON or is nested deeper than `deepest`. Then `visit` may have been called for the members before the fault. */
int CJSON_locate(const uint8_t *bytes, size_t count, size_t deepest, CJSON_visit visit, void *context);

/* Members of a GraphQL response. */
enum CJSON_memberKind { CJSON_OTHER, CJSON_DATA, CJSON_ERRORS };

/* How far a GraphQL response that arrives in pieces has come. */
struct CJSON_outline {
  /* Whether the next byte is in a string, as all ones or zero, and whether it is after the backslash of an escape. */
  uint64_t inString, isEscaped;
  uint64_t depth, deepest;
  /* The kind of byte that may follow in the outermost object, the member whose value is open, and the name or word that is read. */
  uint8_t place, member, wordLength, word[8];
  /* Whether there is a member `data`, whether `errors` has an object, whether a name of the outermost object has escapes, so that it may be
   * one of these, and whether the outermost object is closed. */
  bool hasData, hasErrors, isUnsure, isClosed;
  /* The kinds of the open containers: -1 for an object, 0 for an array. */
  int8_t kinds[CJSON_DEEPEST + 1];
};

/* Begins a response. */
void CJSON_begin(struct CJSON_outline *outline, size_t deepest);

/* Follows the next bytes of a response. Returns false if the text cannot be one: the outermost value is not an object, its members are
 * not separated, `data` or `errors` have values of another kind, brackets do not match or are nested deeper than `deepest`, or bytes follow the
 * end. Nested values may be malformed in other ways. After false, no more bytes may be followed. */
bool CJSON_follow(struct CJSON_outline *outline, const uint8_t *bytes, size_t count);

/* The same without instructions that only some processors have. Tests compare both. */
size_t CJSON_mostEntries_portable(const uint8_t *bytes, size_t count);
ptrdiff_t CJSON_record_portable(const uint8_t *bytes, size_t count, size_t deepest, struct CJSON_entry *entries, size_t most);
int CJSON_locate_portable(const uint8_t *bytes, size_t count, size_t deepest, CJSON_visit visit, void *context);
bool CJSON_follow_portable(struct CJSON_outline *outline, const uint8_t *bytes, size_t count);

#endif
