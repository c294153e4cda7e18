/* my-plugin keeps the last results of queries in memory and answers the same query with the same result.
 *
 * The host calls on_read before it sends a request, and on_write after the server answered. The cache keeps few results, but without
 * a time limit; you may want to add a maximum age or a limit in bytes. Hooks of different calls run at the same time on the host's
 * threads (CRB_THREADS_CONCURRENT below), so a lock protects their shared data. No lock is held when a hook returns. */
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plugin's identity, which the host reads without running code. It must match the table at the end. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { ENTRIES = 32, MAXIMUM_BYTES = 1 << 20 };

static const crb_host *host;

/* One allocation: the key, followed by the result. */
typedef struct entry {
  size_t key_length;
  size_t json_length;
  char bytes[];
} entry;

/* One per manifest entry: allocated in create(), freed in destroy(). */
typedef struct instance {
  crb_self self;
  pthread_mutex_t lock;
  size_t next;
  entry *entries[ENTRIES];
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* The key of an operation: name, document, variables and the caller's Authorization, each after its length, so that no two operations
 * or callers share a key. NULL if a part cannot be read or there is no memory. Then the call continues without the cache. */
static char *key_of(crb_call call, size_t *length) {
  static const uint32_t parts[] = {CRB_PART_OPERATION_NAME, CRB_PART_DOCUMENT, CRB_PART_VARIABLES};
  enum { FIELDS = sizeof parts / sizeof *parts, PARTS };
  crb_view views[PARTS]; /* borrowed: valid until the hook completes */
  size_t bound = PARTS * 24;
  for (size_t i = 0; i < PARTS; i++) {
    crb_status status =
        i < FIELDS ? host->field_get(call, parts[i], &views[i]) : host->header_get(call, text("authorization"), &views[i]);
    if (status == CRB_E_NOTFOUND) views[i] = (crb_view){NULL, 0};
    else if (status != CRB_OK) return NULL;
    bound += views[i].len;
  }
  char *key = malloc(bound), *end = key;
  if (!key) return NULL;
  for (size_t i = 0; i < PARTS; i++) {
    end += snprintf(end, 24, "%zu:", views[i].len);
    if (views[i].len > 0) memcpy(end, views[i].ptr, views[i].len);
    end += views[i].len;
  }
  *length = (size_t)(end - key);
  return key;
}

/* The index of a key, or ENTRIES if it is not found. The caller holds the lock. */
static size_t find(const instance *me, const char *key, size_t length) {
  size_t i = 0;
  while (i < ENTRIES) {
    const entry *e = me->entries[i];
    if (e && e->key_length == length && memcmp(e->bytes, key, length) == 0) break;
    i++;
  }
  return i;
}

/* [owner] RESPOND with one staged result is a hit. CONTINUE passes the read to the next cache, or to the server. */
static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)state; /* this stage has no state per call, so it needs no release() */
  instance *me = inst;
  size_t length;
  char *key = key_of(call, &length);
  if (!key) return CRB_CONTINUE;
  crb_buf found = 0;
  pthread_mutex_lock(&me->lock);
  const size_t i = find(me, key, length);
  if (i < ENTRIES) {
    const entry *e = me->entries[i];
    uint8_t *bytes;
    found = host->buf_alloc(me->self, e->json_length, &bytes);
    if (found) memcpy(bytes, e->bytes + e->key_length, e->json_length);
  }
  pthread_mutex_unlock(&me->lock);
  free(key);
  /* emit() takes over the reference to the buffer, even if it fails. */
  if (!found || host->emit(call, CRB_EMIT_RESULT, found, CRB_RESULT_CACHE) != CRB_OK) return CRB_CONTINUE;
  if (host->log_enabled(me->self, CRB_LOG_INFO)) host->log(me->self, CRB_LOG_INFO, call, text("answered from memory"));
  return CRB_RESPOND;
}

/* [owner] A result arrived. Only complete results of queries without errors are kept. */
static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  instance *me = inst;
  const uint32_t unfit = CRB_RESULT_SYNTHETIC | CRB_RESULT_INCREMENTAL | CRB_RESULT_HAS_NEXT;
  if (host->operation_type(call) != CRB_OPERATION_QUERY || result->flags & unfit || result->errors.ptr || !result->json.ptr) {
    return CRB_CONTINUE;
  }
  size_t length;
  char *key = key_of(call, &length);
  if (!key) return CRB_CONTINUE;
  const size_t total = length + result->json.len;
  entry *made = total <= MAXIMUM_BYTES ? malloc(sizeof *made + total) : NULL;
  if (made) {
    made->key_length = length;
    made->json_length = result->json.len;
    memcpy(made->bytes, key, length);
    memcpy(made->bytes + length, result->json.ptr, result->json.len);
    pthread_mutex_lock(&me->lock);
    size_t i = find(me, key, length);
    if (i == ENTRIES) i = me->next++ % ENTRIES; /* replace the oldest */
    entry *old = me->entries[i];
    me->entries[i] = made;
    pthread_mutex_unlock(&me->lock);
    free(old);
  }
  free(key);
  return CRB_CONTINUE;
}

/* Hooks can read only the parts in `needs`. */
static const crb_cache_stage cache = {
    .size = sizeof cache,
    .needs = CRB_PART_OPERATION_NAME | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_HEADERS | CRB_PART_JSON | CRB_PART_ERRORS,
    .on_read = on_read,
    .on_write = on_write};

/* [load] */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  pthread_mutex_init(&me->lock, NULL);
  *inst = me;
  return CRB_OK;
}

/* [load] After the last hook of the last call. */
static void destroy(void *inst) {
  instance *me = inst;
  for (size_t i = 0; i < ENTRIES; i++) free(me->entries[i]);
  pthread_mutex_destroy(&me->lock);
  free(me);
}

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.example.my-plugin",
                                            .version = "1.0.0",
                                            .cache = &cache,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

/* The only symbol that a plugin exports. */
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
