#define _GNU_SOURCE
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t skip_space(crb_view v, size_t at) {
  while (at < v.len && (v.ptr[at] == ' ' || v.ptr[at] == '\t' || v.ptr[at] == '\r' || v.ptr[at] == '\n')) at++;
  return at;
}

/* The end of the string that begins at a quote. */
static size_t string_end(crb_view v, size_t at) {
  for (at++; at < v.len && v.ptr[at] != '"'; at++) {
    if (v.ptr[at] == '\\') at++;
  }
  return at < v.len ? at + 1 : v.len;
}

/* The end of the value at a place. */
static size_t value_end(crb_view v, size_t at) {
  size_t depth = 0;
  for (at = skip_space(v, at); at < v.len;) {
    uint8_t c = v.ptr[at];
    if (c == '"') {
      at = string_end(v, at);
      if (!depth) return at;
      continue;
    }
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') {
      if (!depth) return at;
      if (!--depth) return at + 1;
    }
    if (c == ',' && !depth) return at;
    at++;
  }
  return at;
}

static crb_view slice(crb_view v, size_t from, size_t to) {
  while (to > from && (v.ptr[to - 1] == ' ' || v.ptr[to - 1] == '\t' || v.ptr[to - 1] == '\r' || v.ptr[to - 1] == '\n')) to--;
  return (crb_view){v.ptr + from, to - from};
}

crb_view json_member(crb_view object, const char *name) {
  size_t at = skip_space(object, 0);
  if (at >= object.len || object.ptr[at] != '{') return (crb_view){NULL, 0};
  for (at = skip_space(object, at + 1); at < object.len && object.ptr[at] == '"';) {
    size_t end = string_end(object, at);
    crb_view key = {object.ptr + at + 1, end - at - 2};
    at = skip_space(object, end);
    if (at >= object.len || object.ptr[at] != ':') break;
    at = skip_space(object, at + 1);
    end = value_end(object, at);
    if (end <= at) break;
    if (key.len == strlen(name) && memcmp(key.ptr, name, key.len) == 0) return slice(object, at, end);
    at = skip_space(object, end);
    if (at >= object.len || object.ptr[at] != ',') break;
    at = skip_space(object, at + 1);
  }
  return (crb_view){NULL, 0};
}

int json_element(crb_view list, size_t *at, crb_view *out) {
  if (!list.len || list.ptr[0] != '[') return 0;
  size_t start = skip_space(list, *at ? *at : 1);
  if (start < list.len && list.ptr[start] == ',') start = skip_space(list, start + 1);
  if (start >= list.len || list.ptr[start] == ']') return 0;
  size_t end = value_end(list, start);
  if (end <= start) return 0;
  *out = slice(list, start, end);
  *at = end;
  return 1;
}

static int digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static size_t encode(uint32_t point, char *out) {
  if (point < 0x80) return out[0] = (char)point, 1;
  if (point < 0x800) return out[0] = (char)(0xC0 | point >> 6), out[1] = (char)(0x80 | (point & 63)), 2;
  if (point < 0x10000) {
    out[0] = (char)(0xE0 | point >> 12), out[1] = (char)(0x80 | (point >> 6 & 63)), out[2] = (char)(0x80 | (point & 63));
    return 3;
  }
  out[0] = (char)(0xF0 | point >> 18), out[1] = (char)(0x80 | (point >> 12 & 63));
  out[2] = (char)(0x80 | (point >> 6 & 63)), out[3] = (char)(0x80 | (point & 63));
  return 4;
}

/* Four digits; -1 if there are others. */
static int32_t unit(crb_view v, size_t at) {
  int32_t value = 0;
  for (size_t i = at; i < at + 4; i++) {
    int d = i < v.len ? digit(v.ptr[i]) : -1;
    if (d < 0) return -1;
    value = value << 4 | d;
  }
  return value;
}

int json_string(crb_view v, char *out, size_t limit) {
  if (v.len < 2 || v.ptr[0] != '"' || v.ptr[v.len - 1] != '"') return -1;
  size_t n = 0;
  for (size_t i = 1; i + 1 < v.len; i++) {
    char piece[4] = {(char)v.ptr[i]};
    size_t length = 1;
    if (v.ptr[i] == '\\') {
      static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
      const char *simple = strchr(from, v.ptr[++i]);
      if (v.ptr[i] == 'u') {
        int32_t point = unit(v, i + 1);
        i += 4;
        if (point >= 0xD800 && point < 0xDC00 && i + 2 < v.len && v.ptr[i + 1] == '\\' && v.ptr[i + 2] == 'u') {
          int32_t low = unit(v, i + 3);
          if (low >= 0xDC00 && low < 0xE000) point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00), i += 6;
        }
        if (point < 1 || (point >= 0xD800 && point < 0xE000)) return -1;
        length = encode((uint32_t)point, piece);
      } else {
        piece[0] = simple && *simple ? to[simple - from] : (char)v.ptr[i];
      }
    }
    if (!piece[0] || n + length >= limit) return -1;
    memcpy(out + n, piece, length);
    n += length;
  }
  out[n] = 0;
  return (int)n;
}

static void add(text *t, const char *bytes, size_t length) {
  if (t->is_full || length > t->limit - t->length) {
    t->is_full = 1;
    return;
  }
  memcpy(t->bytes + t->length, bytes, length);
  t->length += length;
}

void text_add(text *t, const char *format, ...) {
  char piece[256];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (n < 0 || (size_t)n >= sizeof piece) t->is_full = 1;
  else add(t, piece, (size_t)n);
}

/* The length of the character at a place in UTF-8; 0 if there is none. */
static size_t character(crb_view v, size_t at) {
  uint8_t c = v.ptr[at];
  if (c < 0x80) return 1;
  size_t length = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (!length || length > v.len - at) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((v.ptr[at + i] & 0xC0) != 0x80) return 0;
  }
  uint8_t next = v.ptr[at + 1];
  if ((c == 0xE0 && next < 0xA0) || (c == 0xED && next >= 0xA0) || (c == 0xF0 && next < 0x90) || (c == 0xF4 && next >= 0x90)) return 0;
  return length;
}

void text_add_string(text *t, crb_view v, size_t most) {
  const size_t start = t->length;
  add(t, "\"", 1);
  for (size_t i = 0; i < v.len;) {
    size_t length = character(v, i);
    if (i + (length ? length : 1) > most) {
      add(t, "\xE2\x80\xA6", 3);
      break;
    }
    char escaped[8];
    uint8_t c = v.ptr[i];
    if (!length) add(t, "\xEF\xBF\xBD", 3), length = 1;
    else if (c == '"' || c == '\\') escaped[0] = '\\', escaped[1] = (char)c, add(t, escaped, 2);
    else if (c < 0x20 || c == 0x7F) add(t, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
    else add(t, (const char *)v.ptr + i, length);
    i += length;
  }
  add(t, "\"", 1);
  if (t->is_full) t->length = start;
}

void text_add_json(text *t, crb_view v) {
  const size_t start = t->length;
  add(t, (const char *)v.ptr, v.len);
  if (t->is_full) return;
  /* Between tokens a line break is white space; within strings JSON has none. */
  for (size_t i = start; i < t->length; i++) {
    if (t->bytes[i] == '\n' || t->bytes[i] == '\r') t->bytes[i] = ' ';
  }
}
