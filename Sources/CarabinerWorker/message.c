/* Functions of the host: reading and changing the message. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

/* A copy that lives as long as the views of the hook. */
static crb_status show_copy(struct call *call, crb_view bytes, crb_view *out) {
  uint8_t *copy = allocate(&call->views, bytes.len ? bytes.len : 1, 1, SIZE_MAX / 4);
  if (!copy) return CRB_E_NOMEM;
  if (bytes.len) memcpy(copy, bytes.ptr, bytes.len);
  *out = (crb_view){copy, bytes.len};
  return CRB_OK;
}

/* Whether the hook sees headers. */
static crb_status may_see_headers(const struct call *call) {
  if (!(call->stage->needs & CRB_PART_HEADERS)) return CRB_E_STATE;
  /* Also if the response has no head, one may be staged. */
  if (call->edits.head && sees_response(open_hook(call), call->post.kind)) return CRB_OK;
  return call->snapshot->headers_status;
}

crb_status headers(crb_call handle, const crb_header **out, size_t *count) {
  if (!out || !count) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = may_see_headers(call);
  if (status == CRB_OK && !see_headers(call, out, count)) status = CRB_E_NOMEM;
  leave(call);
  return status;
}

static crb_status find_header(struct call *call, crb_view name, crb_view *out) {
  if (!has_header_edits(call)) {
    const struct CCrossing_field *fields = snapshot_fields(call);
    for (uint32_t index = 0; index < call->snapshot->fields; index++) {
      if (!is_same_name(snapshot_text(call, fields[index].name), name)) continue;
      *out = snapshot_text(call, fields[index].value);
      return CRB_OK;
    }
    return CRB_E_NOTFOUND;
  }
  const crb_header *fields;
  size_t count;
  if (!see_headers(call, &fields, &count)) return CRB_E_NOMEM;
  for (size_t index = 0; index < count; index++) {
    if (!is_same_name(fields[index].name, name)) continue;
    *out = fields[index].value;
    return CRB_OK;
  }
  return CRB_E_NOTFOUND;
}

crb_status header_get(crb_call handle, crb_view name, crb_view *out) {
  if (!out || !is_header_name(name)) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = may_see_headers(call);
  if (status == CRB_OK) status = find_header(call, name, out);
  leave(call);
  return status;
}

static crb_status stage_header(struct call *call, crb_view name, crb_view value, uint32_t flags) {
  if (!(rights(CRB_PART_HEADERS, open_hook(call), call->post.kind) & MAY_WRITE)) return CRB_E_STATE;
  if (!(call->stage->mutates & CRB_PART_HEADERS)) return CRB_E_READONLY;
  if (call->edits.headers >= MOST_HEADERS) return CRB_E_LIMIT;
  struct CCrossing_record record = {.kind = CCROSSING_HEADER, .a = flags};
  crb_status status = stage(call, &record, name, value);
  if (status == CRB_OK) call->edits.headers++;
  return status;
}

crb_status header_set(crb_call handle, crb_view name, crb_view value, uint32_t flags) {
  if (name.len > MOST_HEADER_BYTES || value.len > MOST_HEADER_BYTES - name.len || !is_header_name(name)) return CRB_E_INVAL;
  if (!is_header_value(value)) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = stage_header(call, name, value, flags);
  leave(call);
  return status;
}

static int is_one_bit(uint32_t part) { return part && !(part & (part - 1)); }

static crb_status read_field(struct call *call, uint32_t part, crb_view *out) {
  if (!(call->stage->needs & part) || !(rights(part, open_hook(call), call->post.kind) & MAY_READ)) return CRB_E_STATE;
  size_t place = part < 1 << 12 ? call->edits.fields[__builtin_ctz(part)] : 0;
  if (place) {
    crb_view staged = record_value(record_at(&call->edits, place));
    return staged.ptr ? show_copy(call, staged, out) : CRB_E_NOTFOUND;
  }
  const struct CCrossing_part *parts = snapshot_parts(call);
  for (uint32_t index = 0; index < call->snapshot->parts; index++) {
    if (parts[index].part != part) continue;
    if (parts[index].status == CRB_OK) *out = snapshot_text(call, parts[index].bytes);
    return parts[index].status;
  }
  return part == CRB_PART_OPERATION_NAME ? CRB_E_NOTFOUND : CRB_E_STATE;
}

crb_status field_get(crb_call handle, uint32_t part, crb_view *out) {
  if (!out || !is_one_bit(part)) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = read_field(call, part, out);
  leave(call);
  return status;
}

/* The host's own parsers decide about URLs and JSON. */
static crb_status check_at_host(const struct call *call, uint32_t part, crb_view bytes) {
  struct records message = {0};
  struct CCrossing_record record = {.kind = CCROSSING_BODY};
  if (!add_record(&message, &record, (crb_view){NULL, 0}, bytes)) return CRB_E_NOMEM;
  crb_status status = ask(CCROSSING_CHECK, call->post.instance, part, 0, &message, 1);
  free_records(&message);
  return status;
}

static crb_status check_part(const struct call *call, uint32_t part, crb_view bytes) {
  switch (part) {
    case CRB_PART_URL:
    case CRB_PART_VARIABLES:
    case CRB_PART_EXTENSIONS: return check_at_host(call, part, bytes);
    case CRB_PART_DOCUMENT: return is_utf8(bytes) ? CRB_OK : CRB_E_INVAL;
    case CRB_PART_METHOD: return is_method(bytes) ? CRB_OK : CRB_E_INVAL;
    default: return CRB_OK;
  }
}

static crb_status stage_field(struct call *call, uint32_t part, const crb_view *bytes) {
  if (part == CRB_PART_HEADERS || !(rights(part, open_hook(call), call->post.kind) & MAY_WRITE)) return CRB_E_STATE;
  if (!(call->stage->mutates & part)) return CRB_E_READONLY;
  struct CCrossing_record record = {.kind = CCROSSING_FIELD_SET, .a = part};
  if (!bytes) {
    if (part != CRB_PART_BODY && part != CRB_PART_VARIABLES && part != CRB_PART_EXTENSIONS) return CRB_E_INVAL;
    return stage(call, &record, (crb_view){NULL, 0}, (crb_view){NULL, 0});
  }
  crb_view value = bytes->ptr ? *bytes : text_of("");
  crb_status status = check_part(call, part, value);
  return status == CRB_OK ? stage(call, &record, (crb_view){NULL, 0}, value) : status;
}

crb_status field_set(crb_call handle, uint32_t part, crb_buf buffer) {
  crb_view bytes;
  if (buffer && !take_buffer(buffer, &bytes)) return find_call(handle) ? CRB_E_INVAL : CRB_E_STALE;
  crb_status status;
  if (!is_one_bit(part)) {
    status = find_call(handle) ? CRB_E_INVAL : CRB_E_STALE;
  } else {
    struct call *call = enter(handle, &status);
    if (call) {
      status = stage_field(call, part, buffer ? &bytes : NULL);
      leave(call);
    }
  }
  if (buffer) buf_release(buffer);
  return status;
}
