/* Functions of the host: elements, errors, retries and heads that a hook stages. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

static crb_status add_element(struct call *call, uint32_t kind, crb_view bytes, uint32_t flags) {
  int hook = open_hook(call);
  if ((kind != CRB_EMIT_RESULT && kind != CRB_EMIT_CHUNK) || !may_emit(kind == CRB_EMIT_RESULT, hook, call->post.kind)) {
    return CRB_E_STATE;
  }
  uint32_t part = replaced_part(hook, call->post.kind);
  if (part && !(call->stage->mutates & part)) return CRB_E_READONLY;
  if (call->edits.elements >= MOST_ELEMENTS || bytes.len > MOST_ELEMENT_BYTES - call->edits.element_bytes) return CRB_E_LIMIT;
  struct CCrossing_record record = {.kind = CCROSSING_EMIT, .a = kind, .b = flags};
  if (!bytes.ptr) bytes = text_of("");
  crb_status status = stage(call, &record, (crb_view){NULL, 0}, bytes);
  if (status != CRB_OK) return status;
  call->edits.elements++;
  call->edits.element_bytes += bytes.len;
  return CRB_OK;
}

crb_status emit(crb_call handle, uint32_t kind, crb_buf buffer, uint32_t flags) {
  crb_view bytes;
  if (!take_buffer(buffer, &bytes)) return find_call(handle) ? CRB_E_INVAL : CRB_E_STALE;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (call) {
    status = add_element(call, kind, bytes, flags);
    leave(call);
  }
  buf_release(buffer);
  return status;
}

crb_status set_error(crb_call handle, const crb_error *error) {
  if (!error) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  crb_error copy = {0};
  memcpy(&copy, error, error->size < sizeof copy ? error->size : sizeof copy);
  crb_view *const texts[] = {&copy.domain, &copy.message, &copy.detail_json};
  for (int index = 0; index < 3; index++) {
    if (!has_length(*texts[index])) texts[index]->len = 0;
  }
  struct CCrossing_record first = {
      .kind = CCROSSING_ERROR_SET, .a = (uint32_t)copy.code, .b = copy.flags, .number = copy.retry_after_ns};
  struct CCrossing_record more = {.kind = CCROSSING_ERROR_MORE, .a = (uint32_t)copy.http_status};
  status = stage(call, &first, copy.domain, copy.message);
  if (status == CRB_OK) status = stage(call, &more, (crb_view){NULL, 0}, copy.detail_json);
  leave(call);
  return status;
}

crb_status set_retry(crb_call handle, uint32_t scope, uint64_t delay_ns) {
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  int kind = call->post.kind;
  uint32_t wanted = kind == KIND_HTTP ? CRB_RETRY_STAGE : CRB_RETRY_CHAIN;
  struct CCrossing_record record = {.kind = CCROSSING_RETRY, .a = scope, .number = delay_ns};
  if (scope != CRB_RETRY_STAGE && scope != CRB_RETRY_CHAIN) status = CRB_E_INVAL;
  else if (scope != wanted || (kind != KIND_HTTP && kind != KIND_GRAPHQL)) status = CRB_E_STATE;
  else status = stage(call, &record, (crb_view){NULL, 0}, (crb_view){NULL, 0});
  leave(call);
  return status;
}

static int is_valid_head(const crb_head *head) {
  if (head->status < 100 || head->status > 599 || head->header_count > MOST_HEADERS) return 0;
  if (!head->headers && head->header_count > 0) return 0;
  for (size_t index = 0; index < head->header_count; index++) {
    if (!is_header_name(head->headers[index].name) || !is_header_value(head->headers[index].value)) return 0;
  }
  return 1;
}

/* Drops the records of a kind: those of an earlier head. */
static void drop_all(struct edits *edits, uint16_t kind) {
  for (size_t place = 1; place <= edits->records.length;) {
    struct CCrossing_record *record = (void *)(edits->records.bytes + place - 1);
    place += record_size(record);
    if (record->kind == kind) record->kind = 0;
  }
}

static crb_status stage_head(struct call *call, const crb_head *head) {
  int hook = open_hook(call);
  if (!may_set_head(hook, call->post.kind)) return CRB_E_STATE;
  if (hook != CCROSSING_ON_REQUEST && !(call->stage->mutates & CRB_PART_HEADERS)) return CRB_E_READONLY;
  crb_head copy = {0};
  memcpy(&copy, head, head->size < sizeof copy ? head->size : sizeof copy);
  if (!is_valid_head(&copy)) return CRB_E_INVAL;
  size_t size = sizeof(struct CCrossing_record);
  for (size_t index = 0; index < copy.header_count; index++) {
    size += sizeof(struct CCrossing_record) + copy.headers[index].name.len + copy.headers[index].value.len + 8;
  }
  /* So that it is staged as a whole or not at all. */
  if (!reserve_records(&call->edits.records, size)) return CRB_E_NOMEM;
  if (call->edits.head) drop_all(&call->edits, CCROSSING_HEAD_FIELD);
  struct CCrossing_record record = {.kind = CCROSSING_HEAD_SET, .a = copy.status, .b = copy.http_version, .number = copy.header_count};
  crb_status status = stage(call, &record, (crb_view){NULL, 0}, (crb_view){NULL, 0});
  for (size_t index = 0; status == CRB_OK && index < copy.header_count; index++) {
    const crb_header *field = &copy.headers[index];
    struct CCrossing_record one = {.kind = CCROSSING_HEAD_FIELD, .a = field->flags};
    status = stage(call, &one, field->name, field->value.ptr ? field->value : text_of(""));
  }
  if (hook == CCROSSING_ON_HEAD) {
    /* The head of a response discards earlier changes of headers. */
    drop_all(&call->edits, CCROSSING_HEADER);
    call->edits.headers = 0;
    call->edits.first_header = call->edits.records.length;
  }
  return status;
}

crb_status set_head(crb_call handle, const crb_head *head) {
  if (!head) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = stage_head(call, head);
  leave(call);
  return status;
}
