/* The staged edits of a hook: the records of its answer, in private memory. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

static struct CCrossing_record *at(const struct edits *edits, size_t place) { return (void *)(edits->records.bytes + place - 1); }

crb_view record_name(const struct CCrossing_record *record) {
  if (record->name == CCROSSING_ABSENT) return (crb_view){NULL, 0};
  return (crb_view){(const uint8_t *)(record + 1), record->name};
}

crb_view record_value(const struct CCrossing_record *record) {
  if (record->value == CCROSSING_ABSENT) return (crb_view){NULL, 0};
  return (crb_view){(const uint8_t *)(record + 1) + (record->name == CCROSSING_ABSENT ? 0 : record->name), record->value};
}

static size_t *place_of(struct edits *edits, const struct CCrossing_record *record) {
  switch (record->kind) {
    case CCROSSING_FIELD_SET: return &edits->fields[__builtin_ctz(record->a) % 12];
    case CCROSSING_ERROR_SET: return &edits->error;
    case CCROSSING_ERROR_MORE: return &edits->more;
    case CCROSSING_RETRY: return &edits->retry;
    case CCROSSING_HEAD_SET: return &edits->head;
    default: return NULL;
  }
}

/* Removes dropped records from the middle. */
static void compact(struct edits *edits) {
  struct records *records = &edits->records;
  size_t from = 0, to = 0, first_header = edits->first_header;
  while (from < records->length) {
    struct CCrossing_record *record = at(edits, from + 1);
    size_t size = record_size(record);
    if (from == first_header) edits->first_header = to;
    if (record->kind) {
      size_t *place = place_of(edits, record);
      if (place && *place == from + 1) *place = to + 1;
      memmove(records->bytes + to, record, size);
      to += size;
    }
    from += size;
  }
  if (first_header >= from) edits->first_header = to;
  records->length = to;
}

static size_t dropped_bytes(const struct edits *edits) { return edits->records.length - (size_t)edits_size(edits); }

crb_status stage(struct call *call, const struct CCrossing_record *record, crb_view name, crb_view value) {
  struct records *records = &call->edits.records;
  size_t more = sizeof *record + (name.ptr ? name.len : 0) + (value.ptr ? value.len : 0);
  if (more > records->capacity - records->length && records->length > 0 && dropped_bytes(&call->edits) > records->length / 2) {
    compact(&call->edits);
  }
  size_t place = add_record(records, record, name, value);
  if (!place) return CRB_E_NOMEM;
  size_t *newest = place_of(&call->edits, record);
  if (newest) {
    size_t old = *newest;
    *newest = place;
    drop_record(&call->edits, &old);
  }
  call->edits.version++;
  return CRB_OK;
}

void drop_record(struct edits *edits, size_t *place) {
  if (*place) at(edits, *place)->kind = 0;
  *place = 0;
}

void reset_edits(struct edits *edits) {
  reset_records(&edits->records);
  struct records records = edits->records;
  *edits = (struct edits){.records = records};
}

uint64_t edits_size(const struct edits *edits) {
  uint64_t size = 0;
  for (size_t place = 1; place <= edits->records.length;) {
    const struct CCrossing_record *record = at(edits, place);
    if (record->kind) size += record_size(record);
    place += record_size(record);
  }
  return size;
}

void write_edits(const struct edits *edits, uint8_t *to) {
  for (size_t place = 1; place <= edits->records.length;) {
    const struct CCrossing_record *record = at(edits, place);
    size_t size = record_size(record);
    if (record->kind) {
      memcpy(to, record, size);
      to += size;
    }
    place += size;
  }
}

int allow_next_stage(const struct edits *edits) {
  struct reader reader = {edits->records.bytes, edits->records.length};
  crb_view name, value;
  for (const struct CCrossing_record *record; (record = next_record(&reader, &name, &value));) {
    switch (record->kind) {
      case 0:
      case CCROSSING_HEADER:
      case CCROSSING_BAG_SET:
      case CCROSSING_LOG_LINE: continue;
      default: return 0;
    }
  }
  return 1;
}

int add_earlier(struct earlier *earlier, const struct edits *edits) {
  struct reader reader = {edits->records.bytes, edits->records.length};
  crb_view name, value;
  for (const struct CCrossing_record *record; (record = next_record(&reader, &name, &value));) {
    if (record->kind != CCROSSING_HEADER && record->kind != CCROSSING_BAG_SET) continue;
    if (!add_record(&earlier->records, record, name, value)) return 0;
    if (record->kind == CCROSSING_HEADER) earlier->headers++;
  }
  return 1;
}
