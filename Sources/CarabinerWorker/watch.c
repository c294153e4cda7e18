/* The functions of the host for a plugin that a laboratory watches.  Each call is reported to the laboratory before it is made,
 * in the order and on the threads of the plugin.  If the laboratory refuses the call, the plugin gets its status, as from a host
 * that refuses it. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

static crb_host real;
static crb_timer_service timers;
static crb_fetch_service fetches;
static crb_store_service stores;

static const crb_view absent = {NULL, 0};

/* ---- Questions ---- */

static crb_status use(uint32_t function, uint64_t number, struct records *message) {
  struct call *call = running_call;
  uint32_t is_own = call && atomic_load_explicit(&call->id, memory_order_relaxed) == number;
  crb_status status = message->is_short ? CRB_E_NOMEM : ask(CCROSSING_USE, is_own, function, number, message, 1);
  free_records(message);
  return status;
}

static crb_status use_record(uint32_t function, uint64_t number, struct CCrossing_record record, crb_view name, crb_view value) {
  struct records message = {0};
  if (!has_length(name)) name = absent;
  if (!has_length(value)) value = absent;
  add_record(&message, &record, name, value);
  return use(function, number, &message);
}

static crb_status use_numbers(uint32_t function, uint64_t of, uint32_t a, uint32_t b, uint64_t number) {
  return use_record(function, of, (struct CCrossing_record){.kind = CCROSSING_NUMBERS, .a = a, .b = b, .number = number}, absent, absent);
}

static crb_status use_alone(uint32_t function, uint64_t number) {
  struct records message = {0};
  return use(function, number, &message);
}

void watch_return(const struct call *call, crb_verdict verdict) {
  use_numbers(CCROSSING_USE_RETURNED, call->post.call, (uint32_t)verdict, call->state != NULL, 0);
}

/* ---- Buffers and memory ---- */

static crb_buf watched_alloc(crb_self who, size_t n, uint8_t **writable) {
  return use_alone(CCROSSING_USE_BUF_ALLOC, 0) >= 0 ? real.buf_alloc(who, n, writable) : 0;
}
static crb_buf watched_adopt(crb_self who, const void *bytes, size_t n, void (*drop)(void *user), void *user) {
  return use_alone(CCROSSING_USE_BUF_ADOPT, 0) >= 0 ? real.buf_adopt(who, bytes, n, drop, user) : 0;
}
static crb_buf watched_slice(crb_buf buf, size_t offset, size_t n) {
  return use_alone(CCROSSING_USE_BUF_SLICE, 0) >= 0 ? real.buf_slice(buf, offset, n) : 0;
}
static crb_status watched_retain(crb_buf buf) {
  crb_status status = use_alone(CCROSSING_USE_BUF_RETAIN, 0);
  return status >= 0 ? real.buf_retain(buf) : status;
}
static crb_status watched_release(crb_buf buf) {
  crb_status status = use_alone(CCROSSING_USE_BUF_RELEASE, 0);
  return status >= 0 ? real.buf_release(buf) : status;
}
static crb_view watched_view(crb_buf buf) { return use_alone(CCROSSING_USE_BUF_VIEW, 0) >= 0 ? real.buf_view(buf) : absent; }

static void *watched_scratch(crb_call call, size_t n, size_t align) {
  uint32_t alignment = align > UINT32_MAX ? UINT32_MAX : (uint32_t)align;
  return use_numbers(CCROSSING_USE_SCRATCH, call, alignment, 0, n) >= 0 ? real.scratch(call, n, align) : NULL;
}

/* ---- Waiting, and facts of a call ---- */

static crb_token watched_suspend(crb_call call) {
  if (use_alone(CCROSSING_USE_SUSPEND, call) < 0) return 0;
  crb_token token = real.suspend(call);
  use_numbers(CCROSSING_USE_TOKEN, call, 0, 0, token);
  return token;
}
static crb_status watched_resume(crb_token token, crb_verdict verdict) {
  crb_status status = use_numbers(CCROSSING_USE_RESUME, token, (uint32_t)verdict, 0, 0);
  return status >= 0 ? real.resume(token, verdict) : status;
}
static int32_t watched_cancelled(crb_call call) { return use_alone(CCROSSING_USE_CANCELLED, call); }
static uint64_t watched_deadline(crb_call call) {
  return use_alone(CCROSSING_USE_DEADLINE, call) >= 0 ? real.deadline_ns(call) : UINT64_MAX;
}
static uint32_t watched_attempt(crb_call call) { return use_alone(CCROSSING_USE_ATTEMPT, call) >= 0 ? real.attempt(call) : 0; }
static uint32_t watched_operation_type(crb_call call) {
  return use_alone(CCROSSING_USE_OPERATION_TYPE, call) >= 0 ? real.operation_type(call) : 0;
}
static uint64_t watched_request_id(crb_call call) {
  return use_alone(CCROSSING_USE_REQUEST_ID, call) >= 0 ? real.request_id(call) : 0;
}

/* ---- Answers ---- */

static crb_status watched_emit(crb_call call, uint32_t kind, crb_buf bytes, uint32_t flags) {
  crb_view value = absent;
  if (take_buffer(bytes, &value) && !value.ptr) value = text_of("");
  struct CCrossing_record record = {.kind = CCROSSING_EMIT, .a = kind, .b = flags};
  crb_status status = use_record(CCROSSING_USE_EMIT, call, record, absent, value);
  if (status >= 0) return real.emit(call, kind, bytes, flags);
  real.buf_release(bytes);
  return status;
}

static crb_status watched_set_error(crb_call call, const crb_error *error) {
  struct records message = {0};
  if (error) {
    crb_error copy = {0};
    memcpy(&copy, error, error->size < sizeof copy ? error->size : sizeof copy);
    crb_view *const texts[] = {&copy.domain, &copy.message, &copy.detail_json, &copy.origin};
    for (int index = 0; index < 4; index++) {
      if (!has_length(*texts[index])) *texts[index] = absent;
    }
    struct CCrossing_record first = {
        .kind = CCROSSING_ERROR_SET, .a = (uint32_t)copy.code, .b = copy.flags, .number = copy.retry_after_ns};
    struct CCrossing_record more = {.kind = CCROSSING_ERROR_MORE, .a = (uint32_t)copy.http_status};
    add_record(&message, &first, copy.domain, copy.message);
    add_record(&message, &more, copy.origin, copy.detail_json);
  }
  crb_status status = use(CCROSSING_USE_SET_ERROR, call, &message);
  return status >= 0 ? real.set_error(call, error) : status;
}

static crb_status watched_set_retry(crb_call call, uint32_t scope, uint64_t delay_ns) {
  struct CCrossing_record record = {.kind = CCROSSING_RETRY, .a = scope, .number = delay_ns};
  crb_status status = use_record(CCROSSING_USE_SET_RETRY, call, record, absent, absent);
  return status >= 0 ? real.set_retry(call, scope, delay_ns) : status;
}

static crb_status watched_set_head(crb_call call, const crb_head *head) {
  struct records message = {0};
  if (head) {
    crb_head copy = {0};
    memcpy(&copy, head, head->size < sizeof copy ? head->size : sizeof copy);
    struct CCrossing_record record = {.kind = CCROSSING_HEAD_SET, .a = copy.status, .b = copy.http_version, .number = copy.header_count};
    add_record(&message, &record, absent, absent);
    /* More are refused anyway. */
    for (size_t index = 0; copy.headers && index < copy.header_count && index <= MOST_HEADERS; index++) {
      crb_view name = copy.headers[index].name, value = copy.headers[index].value;
      struct CCrossing_record field = {.kind = CCROSSING_HEAD_FIELD, .a = copy.headers[index].flags};
      add_record(&message, &field, has_length(name) ? name : absent, has_length(value) ? value : absent);
    }
  }
  crb_status status = use(CCROSSING_USE_SET_HEAD, call, &message);
  return status >= 0 ? real.set_head(call, head) : status;
}

/* ---- The message ---- */

static crb_status watched_headers(crb_call call, const crb_header **out, size_t *count) {
  crb_status status = use_numbers(CCROSSING_USE_HEADERS, call, out && count, 0, 0);
  return status == CRB_OK ? real.headers(call, out, count) : status;
}
static crb_status watched_header_get(crb_call call, crb_view name, crb_view *out) {
  struct CCrossing_record record = {.kind = CCROSSING_HEADER, .a = out != NULL};
  crb_status status = use_record(CCROSSING_USE_HEADER_GET, call, record, name, absent);
  return status == CRB_OK ? real.header_get(call, name, out) : status;
}
static crb_status watched_header_set(crb_call call, crb_view name, crb_view value, uint32_t flags) {
  struct CCrossing_record record = {.kind = CCROSSING_HEADER, .a = flags};
  crb_status status = use_record(CCROSSING_USE_HEADER_SET, call, record, name, value);
  return status == CRB_OK ? real.header_set(call, name, value, flags) : status;
}
static crb_status watched_field_get(crb_call call, uint32_t part, crb_view *out) {
  struct CCrossing_record record = {.kind = CCROSSING_FIELD_SET, .a = part, .b = out != NULL};
  crb_status status = use_record(CCROSSING_USE_FIELD_GET, call, record, absent, absent);
  return status == CRB_OK ? real.field_get(call, part, out) : status;
}
static crb_status watched_field_set(crb_call call, uint32_t part, crb_buf bytes) {
  crb_view value = absent;
  if (bytes && take_buffer(bytes, &value) && !value.ptr) value = text_of("");
  struct CCrossing_record record = {.kind = CCROSSING_FIELD_SET, .a = part, .b = bytes != 0};
  crb_status status = use_record(CCROSSING_USE_FIELD_SET, call, record, absent, value);
  if (status == CRB_OK) return real.field_set(call, part, bytes);
  if (bytes) real.buf_release(bytes);
  return status;
}

/* ---- Baggage and logs ---- */

static crb_key watched_key(crb_self who, crb_view name) {
  struct CCrossing_record record = {.kind = CCROSSING_LINE};
  return use_record(CCROSSING_USE_KEY, 0, record, absent, name) >= 0 ? real.key(who, name) : 0;
}
static crb_status watched_bag_get(crb_call call, crb_key key, crb_value *out) {
  struct CCrossing_record record = {.kind = CCROSSING_BAG_SET, .a = key, .b = out != NULL};
  crb_status status = use_record(CCROSSING_USE_BAG_GET, call, record, absent, absent);
  return status == CRB_OK ? real.bag_get(call, key, out) : status;
}
static crb_status watched_bag_set(crb_call call, crb_key key, uint32_t scope, const crb_value *value) {
  struct records message = {0};
  if (value) {
    uint32_t type = value->type;
    int has_bytes = type >= CRB_VALUE_TEXT && type <= CRB_VALUE_JSON;
    struct CCrossing_record record = {
        .kind = CCROSSING_BAG_SET, .a = key, .b = (scope > 255 ? 255 : scope) << 8 | (type > 255 ? 255 : type), .number = (uint64_t)value->n.i};
    add_record(&message, &record, absent, has_bytes && has_length(value->v) ? value->v : absent);
  }
  crb_status status = use(CCROSSING_USE_BAG_SET, call, &message);
  return status == CRB_OK ? real.bag_set(call, key, scope, value) : status;
}
static void watched_log(crb_self who, uint32_t level, crb_call call, crb_view message) {
  struct CCrossing_record record = {.kind = CCROSSING_LOG_LINE, .a = level};
  if (use_record(CCROSSING_USE_LOG, call, record, absent, message) >= 0) real.log(who, level, call, message);
}

/* ---- Services ---- */

static crb_timer watched_arm(crb_self who, uint64_t delay_ns, void (*fire)(void *user), void *user) {
  return use_alone(CCROSSING_USE_TIMER_ARM, 0) >= 0 ? timer_service.arm(who, delay_ns, fire, user) : 0;
}
static crb_status watched_disarm(crb_timer timer) {
  crb_status status = use_alone(CCROSSING_USE_TIMER_CANCEL, 0);
  return status >= 0 ? timer_service.cancel(timer) : status;
}

/* Reports an operation without done(), because the worker refuses it and the host would not learn of it. */
static void note_without_done(uint32_t operation) { use_numbers(CCROSSING_USE_WITHOUT_DONE, 0, operation, 0, 0); }

static crb_status watched_fetch(crb_self who, const crb_fetch_request *request,
                                void (*done)(void *, const crb_head *, crb_view, const crb_error *), void *user) {
  if (!request || !done) note_without_done(0);
  return fetch_service.start(who, request, done, user);
}
static crb_status watched_load(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user) {
  if (!done) note_without_done(CCROSSING_STORE_LOAD + 1);
  return store_service.load(who, keys, count, done, user);
}
static crb_status watched_publish(crb_self who, crb_view records, crb_store_done done, void *user) {
  if (!done) note_without_done(CCROSSING_STORE_PUBLISH + 1);
  return store_service.publish(who, records, done, user);
}
static crb_status watched_remove(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user) {
  if (!done) note_without_done(CCROSSING_STORE_REMOVE + 1);
  return store_service.remove(who, keys, count, done, user);
}
static crb_status watched_remove_matching(crb_self who, crb_view pattern, crb_store_done done, void *user) {
  if (!done) note_without_done(CCROSSING_STORE_REMOVE_MATCHING + 1);
  return store_service.remove_matching(who, pattern, done, user);
}

static const void *watched_query(crb_self who, const char *id) {
  (void)who;
  struct CCrossing_record record = {.kind = CCROSSING_LINE};
  if (!id || use_record(CCROSSING_USE_QUERY, 0, record, absent, text_of(id)) < 0) return NULL;
  if (!strcmp(id, "crb.timer/1")) return &timers;
  if (!strcmp(id, "crb.fetch/1")) return &fetches;
  if (!strcmp(id, "crb.store/1")) return &stores;
  return NULL;
}

void watch_host(crb_host *host) {
  real = *host;
  timers = (crb_timer_service){.size = sizeof timers, .now_ns = timer_service.now_ns, .arm = watched_arm, .cancel = watched_disarm};
  fetches = (crb_fetch_service){.size = sizeof fetches, .start = watched_fetch};
  stores = (crb_store_service){.size = sizeof stores,
                               .load = watched_load,
                               .publish = watched_publish,
                               .remove = watched_remove,
                               .remove_matching = watched_remove_matching};
  host->query = watched_query;
  host->buf_alloc = watched_alloc;
  host->buf_adopt = watched_adopt;
  host->buf_slice = watched_slice;
  host->buf_retain = watched_retain;
  host->buf_release = watched_release;
  host->buf_view = watched_view;
  host->scratch = watched_scratch;
  host->suspend = watched_suspend;
  host->resume = watched_resume;
  host->cancelled = watched_cancelled;
  host->deadline_ns = watched_deadline;
  host->attempt = watched_attempt;
  host->emit = watched_emit;
  host->set_error = watched_set_error;
  host->set_retry = watched_set_retry;
  host->set_head = watched_set_head;
  host->operation_type = watched_operation_type;
  host->request_id = watched_request_id;
  host->headers = watched_headers;
  host->header_get = watched_header_get;
  host->header_set = watched_header_set;
  host->field_get = watched_field_get;
  host->field_set = watched_field_set;
  host->key = watched_key;
  host->bag_get = watched_bag_get;
  host->bag_set = watched_bag_set;
  host->log = watched_log;
}
