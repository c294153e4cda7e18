/* Counts its calls and hands the count over (crb.state/1), or does so incorrectly.
 * {"mode": "..."} selects the fault; -DSTATE_VERSION is the version it writes, -DTHREADS its thread class.
 *
 * Version 1 is the count alone, 8 bytes; version 2 adds a name with its length before it. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STATE_VERSION
#define STATE_VERSION 1
#endif
#ifndef THREADS
#define THREADS CRB_THREADS_CONCURRENT
#endif
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.state\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char mode[32];
  char name[64];
  _Atomic uint64_t count;
  atomic_int inside;
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static int is(const instance *i, const char *mode) { return strcmp(i->mode, mode) == 0; }
static void drop(void *user) { (void)user; }

/* Responds with the count. */
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  instance *i = inst;
  char json[128];
  uint8_t *bytes = NULL;
  (void)state;
  if (atomic_fetch_add(&i->inside, 1) != 0 && THREADS == CRB_THREADS_SERIAL) return CRB_FAIL;
  int n = snprintf(json, sizeof json, "{\"data\":{\"count\":%llu,\"name\":\"%s\"}}",
                   (unsigned long long)(atomic_fetch_add(&i->count, 1) + 1), i->name);
  crb_buf buffer = host->buf_alloc(i->self, (size_t)n, &bytes);
  if (bytes) memcpy(bytes, json, (size_t)n);
  atomic_fetch_sub(&i->inside, 1);
  return buffer && host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
}

static crb_status save(void *inst, crb_buf *out, crb_error *why) {
  static const uint8_t some[1] = {0};
  instance *i = inst;
  uint8_t *bytes = NULL;
  uint64_t count = atomic_load(&i->count);
  if (is(i, "refuse")) {
    why->message = text("a secret-word prevents this");
    return CRB_E_STATE;
  }
  if (is(i, "mute")) return CRB_E_UNSUPPORTED;
  if (is(i, "nothing")) return CRB_OK;
  if (is(i, "garbage")) return *out = 0xDEADBEEFDEADBEEFu, CRB_OK;
  if (is(i, "released")) {
    *out = host->buf_alloc(i->self, 8, &bytes);
    host->buf_release(*out);
    return CRB_OK;
  }
  /* The length is too large: a host that trusts it reads beyond the buffer. */
  if (is(i, "length")) return *out = host->buf_adopt(i->self, some, SIZE_MAX / 2, drop, NULL), CRB_OK;
  if (is(i, "large")) return *out = host->buf_alloc(i->self, CRB_STATE_MAX_BYTES + 1, &bytes), CRB_OK;
  if (is(i, "full")) {
    *out = host->buf_alloc(i->self, CRB_STATE_MAX_BYTES, &bytes);
    if (bytes) memset(bytes, 7, CRB_STATE_MAX_BYTES);
    return CRB_OK;
  }
  if (is(i, "empty")) return *out = host->buf_alloc(i->self, 0, &bytes), CRB_OK;
  if (is(i, "none")) return *out = host->buf_adopt(i->self, NULL, 0, drop, NULL), CRB_OK;
  if (is(i, "failing")) return *out = host->buf_alloc(i->self, 8, &bytes), CRB_E_NOMEM;
  /* Detects a concurrent call. */
  if (THREADS == CRB_THREADS_SERIAL && atomic_fetch_add(&i->inside, 1) != 0) return CRB_E_THREAD;
  if (THREADS == CRB_THREADS_SERIAL) usleep(2000);
  uint8_t length = (uint8_t)strlen(i->name);
  size_t n = STATE_VERSION == 1 ? sizeof count : sizeof count + 1 + length;
  *out = host->buf_alloc(i->self, n, &bytes);
  if (bytes) {
    memcpy(bytes, &count, sizeof count);
    if (n > sizeof count) {
      bytes[sizeof count] = length;
      memcpy(bytes + sizeof count + 1, i->name, length);
    }
  }
  if (THREADS == CRB_THREADS_SERIAL) atomic_fetch_sub(&i->inside, 1);
  return bytes ? CRB_OK : CRB_E_NOMEM;
}

static crb_status adopt(void *inst, uint32_t version, crb_view bytes, crb_error *why) {
  instance *i = inst;
  uint64_t count;
  if (is(i, "odd")) return 7;
  if (is(i, "empty") || is(i, "none")) return bytes.ptr && !bytes.len ? CRB_OK : CRB_E_INVAL;
  if (version == 0 || version > STATE_VERSION) {
    why->message = text("a newer version wrote this state");
    why->code = 42;
    return CRB_E_UNSUPPORTED;
  }
  if (bytes.len < sizeof count) return CRB_E_INVAL;
  if (version > 1) {
    size_t length = bytes.len > sizeof count ? bytes.ptr[sizeof count] : SIZE_MAX;
    if (length >= sizeof i->name || bytes.len - sizeof count - 1 != length) return CRB_E_INVAL;
    memcpy(i->name, bytes.ptr + sizeof count + 1, length);
    i->name[length] = 0;
  } else if (bytes.len != sizeof count) {
    return CRB_E_INVAL;
  }
  memcpy(&count, bytes.ptr, sizeof count);
  atomic_store(&i->count, count);
  return CRB_OK;
}

static const crb_state whole = {.size = sizeof whole, .version = STATE_VERSION, .save = save, .adopt = adopt};
/* The table of a plugin that was built before adopt() existed. */
static const crb_state shorter = {.size = offsetof(crb_state, adopt), .version = STATE_VERSION, .save = save, .adopt = adopt};

static const void *extension(void *inst, const char *id) {
  instance *i = inst;
  if (strcmp(id, "crb.state/1") != 0 || (i && is(i, "without"))) return NULL;
  return i && is(i, "shorter") ? &shorter : &whole;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static const char key[] = "\"mode\":";
  instance *i = calloc(1, sizeof *i);
  (void)h, (void)why;
  if (!i) return CRB_E_NOMEM;
  i->self = info->self;
  strcpy(i->name, STATE_VERSION == 1 ? "one" : "two");
  const char *config = (const char *)info->config_json.ptr;
  const char *found = memmem(config, info->config_json.len, key, sizeof key - 1);
  if (found) sscanf(found + sizeof key - 1, " \"%31[^\"]", i->mode);
  *inst = i;
  return CRB_OK;
}
static void destroy(void *inst) { free(inst); }

static const crb_graphql_stage graphql = {.size = sizeof graphql, .mutates = CRB_PART_JSON, .on_request = on_request};
static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = THREADS,
                                            .id = "org.carabiner.test.state",
                                            .version = "1.0.0",
                                            .config_schema = "{\"properties\":{\"mode\":{\"type\":\"string\"}}}",
                                            .graphql = &graphql,
                                            .create = create,
                                            .destroy = destroy,
                                            .extension = extension};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
