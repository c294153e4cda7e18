/* crb.store/1: the form is checked here, and the host runs the operation. */
#define _GNU_SOURCE
#include <string.h>

#include "requests.h"

static crb_status add_key(struct records *message, crb_view key) {
  if (!key.ptr || key.len == 0) return CRB_E_INVAL;
  if (key.len > CRB_STORE_MAX_KEY_BYTES) return CRB_E_LIMIT;
  if (!is_utf8(key)) return CRB_E_INVAL;
  struct CCrossing_record record = {.kind = CCROSSING_KEY_TEXT};
  return add_record(message, &record, (crb_view){NULL, 0}, key) ? CRB_OK : CRB_E_NOMEM;
}

static crb_status add_keys(struct records *message, const crb_view *keys, size_t count) {
  if (count > CRB_STORE_MAX_KEYS) return CRB_E_LIMIT;
  if (count > 0 && !keys) return CRB_E_INVAL;
  crb_status status = CRB_OK;
  for (size_t index = 0; index < count && status == CRB_OK; index++) status = add_key(message, keys[index]);
  return status;
}

/* The arguments of an operation: keys, or records to be published. */
struct arguments {
  uint32_t operation;
  const crb_view *keys;
  size_t count;
  crb_view records;
};

static crb_status write_arguments(const struct arguments *arguments, struct records *message) {
  if (arguments->operation != CCROSSING_STORE_PUBLISH) {
    if (arguments->operation == CCROSSING_STORE_REMOVE_MATCHING) return add_key(message, arguments->keys[0]);
    return add_keys(message, arguments->keys, arguments->count);
  }
  if (arguments->records.len > CRB_STORE_MAX_BYTES) return CRB_E_LIMIT;
  struct CCrossing_record record = {.kind = CCROSSING_BODY};
  crb_view text = arguments->records.ptr ? arguments->records : text_of("");
  return add_record(message, &record, (crb_view){NULL, 0}, text) ? CRB_OK : CRB_E_NOMEM;
}

static crb_status start(crb_self who, const struct arguments *arguments, crb_store_done done, void *user) {
  struct member member;
  if (!find_self(who, &member) || !(member.grants & GRANT_STORE)) return CRB_E_UNSUPPORTED;
  if (!done) return CRB_E_INVAL;
  struct records message = {0};
  crb_status status = write_arguments(arguments, &message);
  if (status == CRB_OK) {
    struct request *added = add_request(who, member.library, CRB_STORE_MAX_UNDER_WAY, (void (*)(void))done, user);
    uint64_t number = added ? added->number : 0;
    status = added ? ask(CCROSSING_STORE, member.instance, arguments->operation, number, &message, 1) : CRB_E_LIMIT;
    struct request dropped;
    if (number && status != CRB_OK) take_request(number, &dropped);
  }
  free_records(&message);
  return status;
}

static crb_status load(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user) {
  return start(who, &(struct arguments){CCROSSING_STORE_LOAD, keys, count, {NULL, 0}}, done, user);
}

static crb_status publish_records(crb_self who, crb_view records, crb_store_done done, void *user) {
  return start(who, &(struct arguments){CCROSSING_STORE_PUBLISH, NULL, 0, records}, done, user);
}

static crb_status remove_keys(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user) {
  return start(who, &(struct arguments){CCROSSING_STORE_REMOVE, keys, count, {NULL, 0}}, done, user);
}

static crb_status remove_matching(crb_self who, crb_view pattern, crb_store_done done, void *user) {
  return start(who, &(struct arguments){CCROSSING_STORE_REMOVE_MATCHING, &pattern, 1, {NULL, 0}}, done, user);
}

const crb_store_service store_service = {
    .size = sizeof store_service, .load = load, .publish = publish_records, .remove = remove_keys, .remove_matching = remove_matching};

void finish_store(uint64_t number, struct reader message) {
  struct request request;
  if (!take_request(number, &request)) return;
  crb_store_done done = (crb_store_done)request.done;
  crb_error error = {.size = sizeof error, .flags = CRB_ERROR_CACHE, .domain = text_of("carabiner.store"),
                     .message = text_of("the host gave no answer")};
  crb_view name, value;
  const struct CCrossing_record *record = find_record(message, CCROSSING_STORE_ANSWER, &name, &value);
  running_library = request.library;
  if (record) {
    crb_store_answer answer = {.size = sizeof answer, .count = record->number, .records = value};
    done(request.user, &answer, NULL);
  } else {
    read_error(message, &error);
    done(request.user, NULL, &error);
  }
  running_library = 0;
}
