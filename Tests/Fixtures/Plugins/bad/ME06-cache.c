/* Adopted bytes are freed while the host holds them: an entry lends its bytes with a drop that does nothing. */
/* ONLY: ME06 */
/* Keeps 16 results and answers from them without a copy. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.zero-copy-cache\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static crb_view span(const void *p, size_t n) { return (crb_view){(const uint8_t *)p, n}; }

static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

#define KEY_PARTS (CRB_PART_OPERATION_NAME | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS | CRB_PART_HEADERS)

/* Name, document, variables, extensions and Authorization, each after its length. NULL: no key, go on without the cache. */
static char *key_of(crb_call call, size_t *length) {
  static const uint32_t parts[] = {CRB_PART_OPERATION_NAME, CRB_PART_DOCUMENT, CRB_PART_VARIABLES, CRB_PART_EXTENSIONS};
  crb_view views[5];
  size_t bound = 5 * 24;
  for (size_t i = 0; i < 5; i++) {
    const crb_status status =
        i < 4 ? host->field_get(call, parts[i], &views[i]) : host->header_get(call, text("authorization"), &views[i]);
    if (status == CRB_E_NOTFOUND) views[i] = (crb_view){NULL, 0};
    else if (status != CRB_OK) return NULL;
    bound += views[i].len;
  }
  char *key = malloc(bound), *end = key;
  if (!key) return NULL;
  for (size_t i = 0; i < 5; i++) {
    end += views[i].ptr ? snprintf(end, 24, "%zu:", views[i].len) : snprintf(end, 24, "-:");
    if (views[i].len > 0) memcpy(end, views[i].ptr, views[i].len);
    end += views[i].len;
  }
  *length = (size_t)(end - key);
  return key;
}

/* Whole results of queries without errors are fit to be kept. */
static int is_fit(crb_call call, const crb_result *result) {
  const uint32_t unfit = CRB_RESULT_SYNTHETIC | CRB_RESULT_INCREMENTAL | CRB_RESULT_HAS_NEXT;
  return host->operation_type(call) == CRB_OPERATION_QUERY && !(result->flags & unfit) && !result->errors.ptr && result->json.ptr;
}

enum { ENTRIES = 16, MAXIMUM = 4 << 20 };

typedef struct entry {
  size_t key_length, json_length;
  char bytes[];
} entry;

typedef struct instance {
  crb_self self;
  pthread_mutex_t lock;
  size_t next;
  entry *entries[ENTRIES];
} instance;

/* The bytes are ours: the entry stays in the cache. */
static void keep(void *user) { (void)user; }

static size_t find(const instance *me, const char *key, size_t length) {
  size_t i = 0;
  while (i < ENTRIES) {
    const entry *e = me->entries[i];
    if (e && e->key_length == length && memcmp(e->bytes, key, length) == 0) break;
    i++;
  }
  return i;
}

static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)state;
  instance *me = inst;
  size_t length;
  char *key = key_of(call, &length);
  if (!key) return CRB_CONTINUE;
  pthread_mutex_lock(&me->lock);
  const size_t i = find(me, key, length);
  const entry *e = i < ENTRIES ? me->entries[i] : NULL;
  const crb_buf hit = e ? host->buf_adopt(me->self, e->bytes + e->key_length, e->json_length, keep, NULL) : 0;
  pthread_mutex_unlock(&me->lock);
  free(key);
  if (!hit || host->emit(call, CRB_EMIT_RESULT, hit, CRB_RESULT_CACHE) != CRB_OK) return CRB_CONTINUE;
  return CRB_RESPOND;
}

static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  instance *me = inst;
  if (!is_fit(call, result)) return CRB_CONTINUE;
  size_t length;
  char *key = key_of(call, &length);
  if (!key) return CRB_CONTINUE;
  const size_t total = length + result->json.len;
  entry *made = total <= MAXIMUM ? malloc(sizeof *made + total) : NULL;
  if (made) {
    made->key_length = length;
    made->json_length = result->json.len;
    memcpy(made->bytes, key, length);
    memcpy(made->bytes + length, result->json.ptr, result->json.len);
    pthread_mutex_lock(&me->lock);
    size_t i = find(me, key, length);
    if (i == ENTRIES) i = me->next++ % ENTRIES;
    entry *old = me->entries[i];
    me->entries[i] = made;
    pthread_mutex_unlock(&me->lock);
    free(old);
  }
  free(key);
  return CRB_CONTINUE;
}

static const crb_cache_stage cache = {
    .size = sizeof cache, .needs = KEY_PARTS | CRB_PART_JSON | CRB_PART_ERRORS, .on_read = on_read, .on_write = on_write};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  pthread_mutex_init(&me->lock, NULL);
  *inst = me;
  return CRB_OK;
}

static void destroy(void *inst) {
  instance *me = inst;
  for (size_t i = 0; i < ENTRIES; i++) free(me->entries[i]);
  pthread_mutex_destroy(&me->lock);
  free(me);
}

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.zero-copy-cache",
    .version = "1.0.0",
    .cache = &cache,
    .create = create,
    .destroy = destroy,
};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
