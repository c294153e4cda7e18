/* The message that a hook sees: the snapshot, with the changes of this hook. */
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "worker.h"

crb_view snapshot_text(const struct call *call, struct CCrossing_text text) {
  if (text.length == CCROSSING_ABSENT) return (crb_view){NULL, 0};
  return (crb_view){(const uint8_t *)call->snapshot + text.place, text.length};
}

const struct CCrossing_part *snapshot_parts(const struct call *call) { return (const void *)(call->snapshot + 1); }
const struct CCrossing_field *snapshot_fields(const struct call *call) {
  return (const void *)(snapshot_parts(call) + call->snapshot->parts);
}
const struct CCrossing_bag *snapshot_bags(const struct call *call) {
  return (const void *)(snapshot_fields(call) + call->snapshot->fields);
}
const struct CCrossing_field *snapshot_event_fields(const struct call *call) {
  return (const void *)(snapshot_bags(call) + call->snapshot->bags);
}
const struct CCrossing_follower *snapshot_followers(const struct CCrossing_snapshot *snapshot) {
  const struct CCrossing_part *parts = (const void *)(snapshot + 1);
  const struct CCrossing_field *fields = (const void *)(parts + snapshot->parts);
  const struct CCrossing_bag *bags = (const void *)(fields + snapshot->fields);
  const struct CCrossing_field *event_fields = (const void *)(bags + snapshot->bags);
  return (const void *)(event_fields + snapshot->event_fields);
}

int is_same_name(crb_view one, crb_view other) {
  return one.len == other.len && strncasecmp((const char *)one.ptr, (const char *)other.ptr, one.len) == 0;
}

static crb_header *make_headers(struct call *call, const struct CCrossing_field *fields, uint32_t count, size_t more) {
  crb_header *headers = allocate(&call->views, (count + more + 1) * sizeof *headers, 16, SIZE_MAX / 4);
  for (uint32_t index = 0; headers && index < count; index++) {
    headers[index] = (crb_header){snapshot_text(call, fields[index].name), snapshot_text(call, fields[index].value), fields[index].flags, 0};
  }
  return headers;
}

static uint32_t header_flags(crb_view name) {
  static const char *const sensitive[] = {"authorization", "cookie", "set-cookie", "proxy-authorization"};
  for (size_t index = 0; index < sizeof sensitive / sizeof *sensitive; index++) {
    if (is_same_name(name, text_of(sensitive[index]))) return CRB_HEADER_SENSITIVE;
  }
  return 0;
}

/* A copy that no later edit moves. */
static int copy_text(struct call *call, crb_view *text) {
  uint8_t *copy = allocate(&call->views, text->len ? text->len : 1, 1, SIZE_MAX / 4);
  if (!copy) return 0;
  if (text->len) memcpy(copy, text->ptr, text->len);
  text->ptr = copy;
  return 1;
}

/* Removes the fields of a name from number `first` on. */
static size_t without(crb_header *headers, size_t count, size_t first, crb_view name) {
  size_t kept = first;
  for (size_t index = first; index < count; index++) {
    if (!is_same_name(headers[index].name, name)) headers[kept++] = headers[index];
  }
  return kept;
}

static int change(struct call *call, const struct CCrossing_record *record, crb_header *headers, size_t *count) {
  crb_view name = record_name(record), value = record_value(record);
  if (!value.ptr) {
    *count = without(headers, *count, 0, name);
    return 1;
  }
  if (!copy_text(call, &name) || !copy_text(call, &value)) return 0;
  size_t place = *count;
  if (record->kind == CCROSSING_HEADER && !(record->a & CRB_HEADER_APPEND)) {
    for (place = 0; place < *count && !is_same_name(headers[place].name, name);) place++;
  }
  if (place < *count) {
    /* The first field of the name stays, with its name as it was written. */
    headers[place].value = value;
    *count = without(headers, *count, place + 1, name);
  } else {
    headers[(*count)++] = (crb_header){name, value, header_flags(name), 0};
  }
  return 1;
}

/* Applies the records of a kind from a place on. */
static int apply(struct call *call, const struct records *records, size_t place, uint16_t kind, crb_header *headers, size_t *count) {
  struct reader reader = {records->bytes + place, records->length - place};
  crb_view name, value;
  for (const struct CCrossing_record *record; (record = next_record(&reader, &name, &value));) {
    if (record->kind == kind && !change(call, record, headers, count)) return 0;
  }
  return 1;
}

int see_headers(struct call *call, const crb_header **headers, size_t *count) {
  const struct edits *edits = &call->edits;
  int hook = open_hook(call);
  /* A staged head of a response replaces the one that came. */
  int has_head = edits->head > 0 && sees_response(hook, call->post.kind);
  if (call->view && call->view_version == edits->version) {
    *headers = call->view;
    *count = call->view_count;
    return 1;
  }
  size_t new_fields = has_head ? (size_t)record_at(edits, edits->head)->number : 0;
  uint32_t old_fields = has_head ? 0 : call->snapshot->fields;
  /* A staged head replaces what earlier stages changed, too. */
  uint32_t earlier = has_head ? 0 : call->earlier.headers;
  crb_header *made = make_headers(call, snapshot_fields(call), old_fields, new_fields + earlier + edits->headers);
  size_t made_count = old_fields;
  if (!made) return 0;
  if (has_head && !apply(call, &edits->records, edits->head - 1, CCROSSING_HEAD_FIELD, made, &made_count)) return 0;
  if (earlier > 0 && !apply(call, &call->earlier.records, 0, CCROSSING_HEADER, made, &made_count)) return 0;
  if (edits->headers > 0 && !apply(call, &edits->records, edits->first_header, CCROSSING_HEADER, made, &made_count)) return 0;
  call->view = made;
  call->view_count = made_count;
  call->view_version = edits->version;
  *headers = made;
  *count = made_count;
  return 1;
}

/* ---- Events ---- */

static void *make_result(struct call *call) {
  const struct CCrossing_snapshot *from = call->snapshot;
  crb_result *event = allocate(&call->views, sizeof *event, 16, SIZE_MAX / 4);
  if (!event) return NULL;
  *event = (crb_result){.size = sizeof *event, .flags = from->a, .seq = from->number, .http_status = (int32_t)from->c};
  crb_view *const texts[] = {&event->json, &event->data, &event->errors, &event->extensions, &event->path, &event->label};
  for (int index = 0; index < 6; index++) *texts[index] = snapshot_text(call, from->texts[index]);
  return event;
}

static void *make_head(struct call *call) {
  const struct CCrossing_snapshot *from = call->snapshot;
  crb_head *event = allocate(&call->views, sizeof *event, 16, SIZE_MAX / 4);
  if (!event) return NULL;
  *event = (crb_head){.size = sizeof *event, .status = from->a, .http_version = from->b, .attempt = from->c};
  event->url = snapshot_text(call, from->texts[0]);
  if (!(call->stage->needs & CRB_PART_HEADERS)) return event;
  if (call->earlier.headers > 0) return see_headers(call, &event->headers, &event->header_count) ? event : NULL;
  event->headers = make_headers(call, snapshot_event_fields(call), from->event_fields, 0);
  event->header_count = from->event_fields;
  return event->headers ? event : NULL;
}

static void *make_chunk(struct call *call) {
  crb_chunk *event = allocate(&call->views, sizeof *event, 16, SIZE_MAX / 4);
  if (!event) return NULL;
  *event = (crb_chunk){.size = sizeof *event, .flags = call->snapshot->a, .seq = call->snapshot->number};
  event->bytes = snapshot_text(call, call->snapshot->texts[0]);
  return event;
}

static void *make_error(struct call *call) {
  const struct CCrossing_snapshot *from = call->snapshot;
  crb_error *event = allocate(&call->views, sizeof *event, 16, SIZE_MAX / 4);
  if (!event) return NULL;
  *event = (crb_error){.size = sizeof *event, .code = (int32_t)from->a, .flags = from->b, .http_status = (int32_t)from->c};
  event->retry_after_ns = from->number;
  event->domain = snapshot_text(call, from->texts[0]);
  event->message = snapshot_text(call, from->texts[1]);
  event->detail_json = snapshot_text(call, from->texts[2]);
  event->origin = snapshot_text(call, from->texts[3]);
  return event;
}

void *make_event(struct call *call) {
  switch (call->snapshot->event) {
    case CCROSSING_RESULT: return make_result(call);
    case CCROSSING_HEAD: return make_head(call);
    case CCROSSING_CHUNK: return make_chunk(call);
    default: return make_error(call);
  }
}
