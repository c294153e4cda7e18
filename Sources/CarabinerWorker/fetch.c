/* crb.fetch/1: the form is checked here, and the host sends the request. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "requests.h"

typedef void (*fetch_done)(void *user, const crb_head *head, crb_view body, const crb_error *error);

static int is_web_address(crb_view url) {
  static const char *const schemes[] = {"http:", "https:"};
  for (int index = 0; index < 2; index++) {
    size_t length = strlen(schemes[index]);
    if (url.ptr && has_length(url) && url.len > length && !strncasecmp((const char *)url.ptr, schemes[index], length)) return 1;
  }
  return 0;
}

/* RequestLine.isMethod() */
static int is_any_method(crb_view method) {
  return method.ptr && method.len <= 32 && is_token(method) && (method.len != 7 || memcmp(method.ptr, "CONNECT", 7) != 0);
}

/* Returns CRB_OK, and the records of the request. */
static crb_status write_request(const crb_fetch_request *request, struct records *message) {
  if (!is_web_address(request->url) || request->header_count > MOST_FETCH_HEADERS) return CRB_E_INVAL;
  if (!request->headers && request->header_count > 0) return CRB_E_INVAL;
  crb_view method = request->method, body = request->body;
  if (!has_length(body)) body.len = 0;
  if (method.len == 0) method = text_of(body.ptr ? "POST" : "GET");
  if (!is_any_method(method)) return CRB_E_INVAL;
  struct CCrossing_record record = {.kind = CCROSSING_REQUEST, .a = request->flags, .number = request->timeout_ns};
  add_record(message, &record, method, request->url);
  for (size_t index = 0; index < request->header_count; index++) {
    const crb_header *header = &request->headers[index];
    if (!is_header_name(header->name) || !is_header_value(header->value)) return CRB_E_INVAL;
    struct CCrossing_record field = {.kind = CCROSSING_FIELD, .a = header->flags};
    add_record(message, &field, header->name, header->value.ptr ? header->value : text_of(""));
  }
  struct CCrossing_record rest = {.kind = CCROSSING_BODY};
  if (body.ptr) add_record(message, &rest, (crb_view){NULL, 0}, body);
  return message->is_short ? CRB_E_NOMEM : CRB_OK;
}

static crb_status start(crb_self who, const crb_fetch_request *request, fetch_done done, void *user) {
  struct member member;
  if (!find_self(who, &member) || !(member.grants & GRANT_FETCH)) return CRB_E_UNSUPPORTED;
  if (!request || !done) return CRB_E_INVAL;
  crb_fetch_request copy = {0};
  memcpy(&copy, request, request->size < sizeof copy ? request->size : sizeof copy);
  struct records message = {0};
  crb_status status = write_request(&copy, &message);
  if (status == CRB_OK) {
    struct request *added = add_request(who, member.library, UINT32_MAX, (void (*)(void))done, user);
    /* Before the question: done() may run, and free it, before the status is here. */
    uint64_t number = added ? added->number : 0;
    status = added ? ask(CCROSSING_FETCH, member.instance, 0, number, &message, 1) : CRB_E_LIMIT;
    struct request dropped;
    if (number && status != CRB_OK) take_request(number, &dropped);
  }
  free_records(&message);
  return status;
}

const crb_fetch_service fetch_service = {.size = sizeof fetch_service, .start = start};

static uint32_t count_fields(struct reader message) {
  uint32_t count = 0;
  crb_view name, value;
  for (const struct CCrossing_record *record; (record = next_record(&message, &name, &value));) count += record->kind == CCROSSING_FIELD;
  return count;
}

static void report(const struct request *request, struct reader message) {
  fetch_done done = (fetch_done)request->done;
  crb_error error = {.size = sizeof error, .flags = CRB_ERROR_TRANSPORT, .domain = text_of("carabiner.transport"),
                     .message = text_of("the host gave no response")};
  crb_head head = {.size = sizeof head};
  crb_view name, value, none = {NULL, 0};
  const struct CCrossing_record *response = find_record(message, CCROSSING_RESPONSE, &name, &value);
  crb_header *fields = response ? calloc(count_fields(message) + 1, sizeof *fields) : NULL;
  if (!response || !fields) {
    read_error(message, &error);
    done(request->user, NULL, none, &error);
    return;
  }
  head.status = response->a;
  head.http_version = response->b;
  head.url = value;
  head.headers = fields;
  crb_view body = text_of("");
  for (const struct CCrossing_record *record; (record = next_record(&message, &name, &value));) {
    if (record->kind == CCROSSING_FIELD) fields[head.header_count++] = (crb_header){name, value, record->a, 0};
    if (record->kind == CCROSSING_BODY) body = value;
  }
  done(request->user, &head, body, NULL);
  free(fields);
}

void finish_fetch(uint64_t number, struct reader message) {
  struct request request;
  if (!take_request(number, &request)) return;
  running_library = request.library;
  report(&request, message);
  running_library = 0;
}
