#define _GNU_SOURCE
#include "records.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024, LARGEST_KEPT = 16 << 10 };

int reserve_records(struct records *records, size_t more) {
  if (more <= records->capacity - records->length) return 1;
  if (more > UINT32_MAX - records->length) return 0;
  size_t capacity = records->capacity ? 2 * records->capacity : FIRST_CAPACITY;
  if (capacity < records->length + more) capacity = records->length + more;
  uint8_t *bytes = realloc(records->bytes, capacity);
  if (!bytes) return 0;
  records->bytes = bytes;
  records->capacity = capacity;
  return 1;
}

size_t add_record(struct records *records, const struct CCrossing_record *record, crb_view name, crb_view value) {
  size_t texts = 0, size = 0;
  int fits = (name.ptr ? name.len : 0) <= UINT32_MAX / 4 && (value.ptr ? value.len : 0) <= UINT32_MAX / 4 * 2;
  if (fits) texts = (name.ptr ? name.len : 0) + (value.ptr ? value.len : 0);
  size = sizeof *record + ((texts + 7) & ~(size_t)7);
  if (!fits || !reserve_records(records, size)) {
    records->is_short = 1;
    return 0;
  }
  uint8_t *to = records->bytes + records->length;
  struct CCrossing_record copy = *record;
  copy.name = name.ptr ? (uint32_t)name.len : CCROSSING_ABSENT;
  copy.value = value.ptr ? (uint32_t)value.len : CCROSSING_ABSENT;
  memcpy(to, &copy, sizeof copy);
  to += sizeof copy;
  if (name.ptr && name.len) memcpy(to, name.ptr, name.len), to += name.len;
  if (value.ptr && value.len) memcpy(to, value.ptr, value.len), to += value.len;
  size_t place = records->length + 1;
  records->length += size;
  memset(to, 0, (size_t)(records->bytes + records->length - to));
  return place;
}

void add_failure(struct records *answer, crb_status status, uint32_t flags, const char *step, const char *text) {
  struct CCrossing_record record = {.kind = CCROSSING_FAILURE, .a = (uint32_t)status, .b = flags};
  add_record(answer, &record, text_of(step), text_of(text));
}

void free_records(struct records *records) {
  free(records->bytes);
  *records = (struct records){0};
}

void reset_records(struct records *records) {
  if (records->capacity > LARGEST_KEPT) free_records(records);
  records->length = 0;
  records->is_short = 0;
}

static crb_view take_text(const uint8_t **at, uint32_t length) {
  if (length == CCROSSING_ABSENT) return (crb_view){NULL, 0};
  crb_view text = {*at, length};
  *at += length;
  return text;
}

const struct CCrossing_record *next_record(struct reader *reader, crb_view *name, crb_view *value) {
  if (reader->length < sizeof(struct CCrossing_record)) return NULL;
  const struct CCrossing_record *record = (const void *)reader->bytes;
  size_t size = record_size(record);
  if (size > reader->length) return NULL;
  const uint8_t *at = reader->bytes + sizeof *record;
  *name = take_text(&at, record->name);
  *value = take_text(&at, record->value);
  reader->bytes += size;
  reader->length -= size;
  return record;
}

const struct CCrossing_record *find_record(struct reader reader, uint16_t kind, crb_view *name, crb_view *value) {
  for (const struct CCrossing_record *record; (record = next_record(&reader, name, value));) {
    if (record->kind == kind) return record;
  }
  *name = *value = (crb_view){NULL, 0};
  return NULL;
}
