/* Checks of names, values and texts, with the results of Sources/CarabinerWire/OverHTTP/FieldText.swift. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

static int is_token_byte(uint8_t byte) {
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')) return 1;
  return byte && strchr("!#$%&'*+-.^_`|~", byte);
}

int is_token(crb_view text) {
  for (size_t index = 0; index < text.len; index++) {
    if (!is_token_byte(text.ptr[index])) return 0;
  }
  return text.len > 0;
}

int is_field_value(crb_view text) {
  for (size_t index = 0; index < text.len; index++) {
    uint8_t byte = text.ptr[index];
    if (byte < 0x20 && (byte == 0 || byte == '\r' || byte == '\n')) return 0;
  }
  return 1;
}

/* RequestLine.isMethod(), and only capital letters. */
int is_method(crb_view text) {
  enum { MOST = 32 };
  if (text.len == 0 || text.len > MOST) return 0;
  for (size_t index = 0; index < text.len; index++) {
    if (text.ptr[index] < 'A' || text.ptr[index] > 'Z') return 0;
  }
  return text.len != 7 || memcmp(text.ptr, "CONNECT", 7) != 0;
}

/* The bytes that follow the first one of a character, and the range of the second one; -1 if it cannot be the first. */
static int following(uint8_t first, uint8_t *low, uint8_t *high) {
  *low = 0x80, *high = 0xbf;
  if (first < 0x80) return 0;
  if (first < 0xc2 || first > 0xf4) return -1;
  if (first < 0xe0) return 1;
  if (first == 0xe0) *low = 0xa0;
  if (first == 0xed) *high = 0x9f;
  if (first == 0xf0) *low = 0x90;
  if (first == 0xf4) *high = 0x8f;
  return first < 0xf0 ? 2 : 3;
}

int is_utf8(crb_view text) {
  for (size_t index = 0; index < text.len;) {
    uint8_t low, high;
    int count = following(text.ptr[index++], &low, &high);
    if (count < 0 || (size_t)count > text.len - index) return 0;
    for (; count > 0; count--, low = 0x80, high = 0xbf) {
      uint8_t byte = text.ptr[index++];
      if (byte < low || byte > high) return 0;
    }
  }
  return 1;
}
