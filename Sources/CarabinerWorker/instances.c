/* Instances of interceptors: made, asked for their state, and destroyed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "worker.h"

/* By number, with the places after it if that one is taken. */
static _Atomic(struct instance *) instances[MOST_INSTANCES];

static crb_view view_of(const crb_view *text) { return text->ptr && has_length(*text) ? *text : (crb_view){NULL, 0}; }

/* The error that a function of the plugin filled in. */
static void add_reason(struct records *answer, crb_status status, const char *step, const crb_error *why) {
  struct CCrossing_record record = {
      .kind = CCROSSING_FAILURE, .a = (uint32_t)status, .b = why->flags, .number = (uint32_t)why->code};
  add_record(answer, &record, text_of(step), view_of(&why->message));
}

static crb_status refuse(struct records *answer, crb_status status, uint32_t flags, const char *step, const char *text) {
  add_failure(answer, status, flags, step, text);
  return status;
}

crb_status validate(const struct interceptor *interceptor, crb_view config, struct records *answer) {
  if (!interceptor->table.validate) return CRB_OK;
  crb_error why = {.size = sizeof why};
  running_library = interceptor->library->number + 1;
  crb_status status = interceptor->table.validate(&interceptor->library->host, config, &why);
  if (status != CRB_OK) add_reason(answer, status, "validate", &why);
  running_library = 0;
  return status;
}

static crb_status create(struct instance *instance, void **pointer, struct records *answer) {
  const struct interceptor *interceptor = instance->interceptor;
  crb_status status = validate(interceptor, instance->info.config_json, answer);
  if (status != CRB_OK) return status;
  crb_error why = {.size = sizeof why};
  crb_create_info info = instance->info;
  *pointer = NULL;
  running_library = interceptor->library->number + 1;
  status = interceptor->table.create(&interceptor->library->host, &info, pointer, &why);
  if (status != CRB_OK) add_reason(answer, status, "create", &why);
  running_library = 0;
  return status;
}

static crb_view keep(crb_view text, crb_view otherwise) {
  if (!text.ptr) text = otherwise;
  uint8_t *copy = malloc(text.len + 1);
  if (!copy) return (crb_view){NULL, 0};
  memcpy(copy, text.ptr, text.len);
  copy[text.len] = 0;
  return (crb_view){copy, text.len};
}

static void free_instance(struct instance *instance) {
  if (instance->self) retire_self(instance->self);
  free((void *)(uintptr_t)instance->info.entry_name.ptr);
  free((void *)(uintptr_t)instance->info.config_json.ptr);
  free((void *)(uintptr_t)instance->info.origin.ptr);
  pthread_mutex_destroy(&instance->alone);
  free(instance);
}

static uint32_t read_grants(struct reader message) {
  uint32_t grants = 0;
  crb_view name, value;
  for (const struct CCrossing_record *record; (record = next_record(&message, &name, &value));) {
    if (record->kind != CCROSSING_GRANT) continue;
    if (value.len == 5 && !memcmp(value.ptr, "fetch", 5)) grants |= GRANT_FETCH;
    if (value.len == 5 && !memcmp(value.ptr, "store", 5)) grants |= GRANT_STORE;
  }
  return grants;
}

static struct instance *make(uint32_t number, const struct interceptor *interceptor, struct reader message) {
  struct instance *instance = calloc(1, sizeof *instance);
  if (!instance) return NULL;
  crb_view name, entry, config, origin;
  const struct CCrossing_record *record = find_record(message, CCROSSING_ENTRY, &name, &entry);
  instance->info.generation = record ? record->number : 1;
  find_record(message, CCROSSING_CONFIG, &name, &config);
  record = find_record(message, CCROSSING_ORIGIN, &name, &origin);
  pthread_mutex_init(&instance->alone, NULL);
  instance->number = number;
  instance->interceptor = interceptor;
  instance->info.size = sizeof instance->info;
  instance->info.entry_name = keep(entry, text_of(""));
  instance->info.config_json = keep(config, text_of("{}"));
  instance->info.origin = keep(origin, text_of(""));
  instance->self = add_self(interceptor->library->number + 1, number, read_grants(message), record ? record->number : 0);
  instance->info.self = instance->self;
  int is_whole = instance->info.entry_name.ptr && instance->info.config_json.ptr && instance->info.origin.ptr && instance->self;
  if (is_whole) return instance;
  free_instance(instance);
  return NULL;
}

struct instance *find_instance(uint32_t number) {
  for (uint32_t step = 0; step < MOST_INSTANCES; step++) {
    struct instance *instance = atomic_load_explicit(&instances[(number + step) % MOST_INSTANCES], memory_order_acquire);
    if (instance && instance->number == number) return instance;
    /* Others may have been removed in front of it. */
    if (!instance && step >= 64) return NULL;
  }
  return NULL;
}

static int add(struct instance *instance) {
  for (uint32_t step = 0; step < 64; step++) {
    uint32_t place = (instance->number + step) % MOST_INSTANCES;
    if (atomic_load(&instances[place])) continue;
    atomic_store_explicit(&instances[place], instance, memory_order_release);
    return 1;
  }
  return 0;
}

static void remove_from_table(const struct instance *instance) {
  for (uint32_t step = 0; step < MOST_INSTANCES; step++) {
    uint32_t place = (instance->number + step) % MOST_INSTANCES;
    if (atomic_load(&instances[place]) != instance) continue;
    atomic_store(&instances[place], NULL);
    return;
  }
}

crb_status create_instance(uint32_t number, uint64_t argument, struct reader message, struct records *answer) {
  const struct interceptor *interceptor = find_interceptor(argument);
  if (!interceptor) return refuse(answer, CRB_E_NOTFOUND, 0, "create", "there is no such interceptor");
  if (find_instance(number)) return refuse(answer, CRB_E_INVAL, 0, "create", "there is an instance with this number");
  struct instance *instance = make(number, interceptor, message);
  if (!instance) return refuse(answer, CRB_E_NOMEM, 0, "create", "there is no memory for another instance");
  crb_status status = is_per_call(instance) ? CRB_OK : create(instance, &instance->pointer, answer);
  if (status == CRB_OK && !add(instance)) {
    destroy_own(instance, instance->pointer);
    status = refuse(answer, CRB_E_LIMIT, 0, "create", "there are too many instances");
  }
  if (status != CRB_OK) free_instance(instance);
  return status;
}

crb_status create_own(struct instance *instance, void **own, struct records *answer) { return create(instance, own, answer); }

void destroy_own(const struct instance *instance, void *own) {
  uint32_t before = running_library;
  running_library = instance->interceptor->library->number + 1;
  if (instance->interceptor->table.destroy) instance->interceptor->table.destroy(own);
  running_library = before;
}

void drain_instance(struct instance *instance) {
  running_library = instance->interceptor->library->number + 1;
  if (instance->interceptor->table.drain && !is_per_call(instance)) instance->interceptor->table.drain(instance->pointer);
  running_library = 0;
}

void destroy_instance(struct instance *instance) {
  remove_from_table(instance);
  if (!is_per_call(instance)) destroy_own(instance, instance->pointer);
  free_instance(instance);
}

void destroy_instances(void) {
  for (uint32_t place = 0; place < MOST_INSTANCES; place++) {
    struct instance *instance = atomic_load(&instances[place]);
    if (instance) destroy_instance(instance);
  }
}

/* The table crb.state/1 of an instance.  Returns 0 if it has none. */
static int find_state(const struct instance *instance, crb_state *state) {
  const void *(*extension)(void *, const char *) = instance->interceptor->table.extension;
  const crb_state *found = extension && !is_per_call(instance) ? extension(instance->pointer, "crb.state/1") : NULL;
  if (!found) return 0;
  memcpy(state, found, found->size < sizeof *state ? found->size : sizeof *state);
  return 1;
}

/* The bytes of a saved buffer, which the caller releases. */
static crb_status add_state(struct records *answer, uint32_t version, crb_buf buffer) {
  crb_view bytes;
  if (!take_buffer(buffer, &bytes)) {
    return refuse(answer, CRB_E_STALE, CRB_ERROR_PLUGIN_FAULT, "save", "stored a buffer whose last reference is gone, or that never was");
  }
  if (bytes.len > CRB_STATE_MAX_BYTES) {
    return refuse(answer, CRB_E_LIMIT, CRB_ERROR_PLUGIN_FAULT, "save", "hands over more than CRB_STATE_MAX_BYTES");
  }
  struct CCrossing_record record = {.kind = CCROSSING_STATE, .number = version};
  if (add_record(answer, &record, (crb_view){NULL, 0}, bytes.ptr ? bytes : text_of(""))) return CRB_OK;
  return refuse(answer, CRB_E_NOMEM, 0, "save", "there is no memory for its state");
}

crb_status save_state(struct instance *instance, struct records *answer) {
  crb_state state = {0};
  crb_buf buffer = 0;
  crb_error why = {.size = sizeof why};
  running_library = instance->interceptor->library->number + 1;
  crb_status status = CRB_OK;
  if (find_state(instance, &state) && state.save) {
    if (is_serial(instance)) pthread_mutex_lock(&instance->alone);
    status = state.save(instance->pointer, &buffer, &why);
    if (is_serial(instance)) pthread_mutex_unlock(&instance->alone);
    if (status != CRB_OK) add_reason(answer, status, "save", &why);
    else if (buffer) status = add_state(answer, state.version, buffer);
  }
  if (buffer) buf_release(buffer);
  running_library = 0;
  return status;
}

crb_status adopt_state(struct instance *instance, struct reader message, struct records *answer) {
  crb_state state = {0};
  crb_view name, bytes;
  crb_error why = {.size = sizeof why};
  const struct CCrossing_record *record = find_record(message, CCROSSING_STATE, &name, &bytes);
  if (!record) return refuse(answer, CRB_E_INVAL, 0, "adopt", "the message has no state");
  running_library = instance->interceptor->library->number + 1;
  crb_status status = CRB_OK;
  if (find_state(instance, &state) && state.adopt) {
    status = state.adopt(instance->pointer, (uint32_t)record->number, bytes.ptr ? bytes : text_of(""), &why);
    if (status != CRB_OK) add_reason(answer, status, "adopt", &why);
  }
  running_library = 0;
  return status;
}
