/* Messages that consist of records: written to private memory, and read. */
#ifndef CARABINER_WORKER_RECORDS_H
#define CARABINER_WORKER_RECORDS_H

#include <carabiner.h>

#include "crossing.h"

static inline crb_view text_of(const char *text) { return (crb_view){(const uint8_t *)text, text ? __builtin_strlen(text) : 0}; }

struct records {
  uint8_t *bytes;
  size_t length, capacity;
  int is_short; /* there was no memory for some of them */
};

/* Appends a record.  A view whose pointer is NULL is absent.  Returns its place + 1; 0 without memory. */
size_t add_record(struct records *records, const struct CCrossing_record *record, crb_view name, crb_view value);
/* Appends the reason of a failure. */
void add_failure(struct records *answer, crb_status status, uint32_t flags, const char *step, const char *text);
/* Makes room for as many bytes more.  Returns 0 without memory. */
int reserve_records(struct records *records, size_t more);
/* Forgets all; keeps small memory for others. */
void reset_records(struct records *records);
void free_records(struct records *records);
/* The bytes of a record with its texts. */
static inline size_t record_size(const struct CCrossing_record *record) {
  size_t name = record->name == CCROSSING_ABSENT ? 0 : record->name, value = record->value == CCROSSING_ABSENT ? 0 : record->value;
  return sizeof *record + ((name + value + 7) & ~(size_t)7);
}

struct reader {
  const uint8_t *bytes;
  size_t length;
};
/* Takes the next record.  Returns NULL at the end. */
const struct CCrossing_record *next_record(struct reader *reader, crb_view *name, crb_view *value);
/* The first record of a kind; NULL if there is none. */
const struct CCrossing_record *find_record(struct reader reader, uint16_t kind, crb_view *name, crb_view *value);

#endif
