/* The destructor of thread-specific data calls the host when a thread ends. */
/* ONLY: LC09 */
/* STATUS: CRASH */
/* Sends the size of the operation in X-Operation-Size, with blanks folded; each thread keeps a work area. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.thread-scratch\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static crb_view span(const void *p, size_t n) { return (crb_view){(const uint8_t *)p, n}; }

static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

typedef struct instance {
  crb_self self;
} instance;

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

typedef struct area {
  crb_self self;
  size_t capacity, uses;
  char *bytes;
} area;

static pthread_key_t areas;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_made;

static void drop_area(void *value) {
  area *a = value;
  char line[96];
  const int n = snprintf(line, sizeof line, "a work area of %zu bytes ends after %zu uses", a->capacity, a->uses);
  host->log(a->self, CRB_LOG_DEBUG, 0, span(line, (size_t)n));
  free(a->bytes);
  free(a);
}

static void make_key(void) { is_made = pthread_key_create(&areas, drop_area) == 0; }

/* The area of this thread with room for n bytes, or NULL. */
static area *area_of(const instance *me, size_t n) {
  pthread_once(&once, make_key);
  if (!is_made) return NULL;
  area *a = pthread_getspecific(areas);
  if (!a) {
    a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->self = host->self;
    if (pthread_setspecific(areas, a) != 0) {
      free(a);
      return NULL;
    }
  }
  if (n > a->capacity) {
    char *grown = realloc(a->bytes, n);
    if (!grown) return NULL;
    a->bytes = grown;
    a->capacity = n;
  }
  a->uses++;
  return a;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  crb_view document;
  const crb_status status = host->field_get(call, CRB_PART_DOCUMENT, &document);
  if (status == CRB_E_NOTFOUND || document.len > 1 << 20) return CRB_CONTINUE;
  if (status != CRB_OK) return fail(call, "the document cannot be read");
  area *a = area_of(inst, document.len + 1);
  if (!a) return CRB_CONTINUE;
  size_t n = 0;
  for (size_t i = 0; i < document.len; i++) {
    const char c = (char)document.ptr[i];
    const int blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) a->bytes[n++] = c;
    else if (n > 0 && a->bytes[n - 1] != ' ') a->bytes[n++] = ' ';
  }
  char value[24];
  snprintf(value, sizeof value, "%zu", n);
  if (host->header_set(call, text("X-Operation-Size"), text(value), CRB_HEADER_REPLACE) != CRB_OK) {
    return fail(call, "the host does not take X-Operation-Size");
  }
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .needs = CRB_PART_DOCUMENT, .mutates = CRB_PART_HEADERS, .on_request = on_request};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.thread-scratch",
    .version = "1.0.0",
    .graphql = &graphql,
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
