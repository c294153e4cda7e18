/* Its hook stays pending beyond all limits, and then reads its views, which rule R3 allows until it resumes.
 * {"hook":"graphql.on_request","folder":"/where/the/pipes/are"}
 *
 * It writes "pending" to the pipe `said` once it waits.  For each line it reads from the pipe `go` it writes one: first whether
 * the views are unchanged, and then the result of resume().  It does so once in the life of the process. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.late\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

#ifdef UNIQUE
/* Two builds with different numbers are two libraries. */
__attribute__((used)) static const unsigned unique = UNIQUE;
#endif

static const crb_host *host;

typedef struct instance {
  char hook[64];
  char folder[256];
} instance;

typedef struct piece {
  const char *name;
  const void *at;
  void *copy;
  size_t count;
} piece;

typedef struct work {
  const instance *instance;
  crb_token token;
  unsigned count;
  piece pieces[8];
} work;

static atomic_int is_used;

static void note(work *w, const char *name, const void *at, size_t count) {
  if (!at || !count || w->count == sizeof w->pieces / sizeof *w->pieces) return;
  piece *p = &w->pieces[w->count++];
  *p = (piece){name, at, malloc(count), count};
  memcpy(p->copy, at, count);
}

static void note_view(work *w, const char *name, crb_view v) { note(w, name, v.ptr, v.len); }

/* Reads the bytes by a system call, so that unmapped memory does not cause a crash. */
static const char *state_of(const piece *p) {
  void *now = malloc(p->count);
  struct iovec to = {now, p->count}, from = {(void *)p->at, p->count};
  ssize_t count = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  const char *state = count != (ssize_t)p->count ? "gone" : memcmp(now, p->copy, p->count) ? "changed" : "same";
  free(now);
  return state;
}

static int pipe_of(const instance *i, const char *name, int flags) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", i->folder, name);
  return open(path, flags | O_CLOEXEC);
}

static void *be_late(void *argument) {
  work *w = argument;
  int said = pipe_of(w->instance, "said", O_WRONLY), go = pipe_of(w->instance, "go", O_RDONLY);
  char byte;
  if (said < 0 || go < 0) abort();
  dprintf(said, "pending\n");
  while (read(go, &byte, 1) == 1 && byte != '\n') {}
  char line[512] = "";
  for (unsigned n = 0; n < w->count; n++)
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %s", n ? ", " : "", w->pieces[n].name, state_of(&w->pieces[n]));
  dprintf(said, "%s\n", line);
  while (read(go, &byte, 1) == 1 && byte != '\n') {}
  dprintf(said, "resume %d\n", host->resume(w->token, CRB_CONTINUE));
  close(said);
  close(go);
  for (unsigned n = 0; n < w->count; n++) free(w->pieces[n].copy);
  free(w);
  return NULL;
}

static int is_meant(const instance *i, const char *hook) {
  return strcmp(i->hook, hook) == 0 && !atomic_exchange(&is_used, 1);
}

static work *begin(const instance *i) {
  work *w = calloc(1, sizeof *w);
  w->instance = i;
  return w;
}

static crb_verdict wait_in(work *w, crb_call call) {
  pthread_t thread;
  /* Scratch memory, which lives until the call is over. */
  char *scratch = host->scratch(call, 5000, 8);
  memset(scratch, 's', 5000);
  note(w, "scratch", scratch, 5000);
  w->token = host->suspend(call);
  if (!w->token || pthread_create(&thread, NULL, be_late, w)) return CRB_FAIL;
  pthread_detach(thread);
  return CRB_PENDING;
}

static void note_field(work *w, crb_call call, const char *name, uint32_t part) {
  crb_view v;
  if (host->field_get(call, part, &v) == CRB_OK) note_view(w, name, v);
}

static void note_headers(work *w, crb_call call) {
  const crb_header *headers;
  size_t count;
  if (host->headers(call, &headers, &count) != CRB_OK || !count) return;
  note(w, "headers", headers, count * sizeof *headers);
  note_view(w, "header", headers[0].value);
}

static crb_verdict on_graphql(void *inst, crb_call call, void **state) {
  (void)state;
  if (!is_meant(inst, "graphql.on_request")) return CRB_CONTINUE;
  work *w = begin(inst);
  note_field(w, call, "document", CRB_PART_DOCUMENT);
  note_field(w, call, "variables", CRB_PART_VARIABLES);
  return wait_in(w, call);
}

static crb_verdict on_http(void *inst, crb_call call, void **state) {
  (void)state;
  if (!is_meant(inst, "http.on_request")) return CRB_CONTINUE;
  work *w = begin(inst);
  note_field(w, call, "body", CRB_PART_BODY);
  note_field(w, call, "url", CRB_PART_URL);
  note_headers(w, call);
  return wait_in(w, call);
}

static crb_verdict with_result(instance *i, const char *hook, crb_call call, const crb_result *result) {
  if (!is_meant(i, hook)) return CRB_CONTINUE;
  work *w = begin(i);
  note(w, "event", result, sizeof *result);
  note_view(w, "json", result->json);
  note_view(w, "data", result->data);
  return wait_in(w, call);
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  return with_result(inst, "graphql.on_result", call, result);
}

static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  return with_result(inst, "cache.on_write", call, result);
}

static crb_verdict with_head(instance *i, const char *hook, crb_call call, const crb_head *head) {
  if (!is_meant(i, hook)) return CRB_CONTINUE;
  work *w = begin(i);
  note(w, "event", head, sizeof *head);
  note_view(w, "url", head->url);
  note(w, "headers", head->headers, head->header_count * sizeof *head->headers);
  return wait_in(w, call);
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)state;
  return with_head(inst, "http.on_head", call, head);
}

static crb_verdict with_chunk(instance *i, const char *hook, crb_call call, const crb_chunk *chunk) {
  if (!is_meant(i, hook)) return CRB_CONTINUE;
  work *w = begin(i);
  note(w, "event", chunk, sizeof *chunk);
  note_view(w, "bytes", chunk->bytes);
  return wait_in(w, call);
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)state;
  return with_chunk(inst, "http.on_chunk", call, chunk);
}

static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}

static crb_verdict on_parser_head(void *inst, crb_call call, void **state, const crb_head *head) {
  instance *i = inst;
  (void)state;
  if (strncmp(i->hook, "parser.", 7) != 0) return CRB_DROP;
  return with_head(i, "parser.on_head", call, head);
}

static crb_verdict on_parser_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)state;
  return with_chunk(inst, "parser.on_chunk", call, chunk);
}

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)state;
  if (!is_meant(inst, "graphql.on_error")) return CRB_CONTINUE;
  work *w = begin(inst);
  note(w, "event", error, sizeof *error);
  note_view(w, "message", error->message);
  return wait_in(w, call);
}

static const crb_graphql_stage graphql = {.size = sizeof graphql,
                                          .needs = CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_JSON | CRB_PART_DATA,
                                          .on_request = on_graphql,
                                          .on_result = on_result,
                                          .on_error = on_error};
static const crb_http_stage http = {.size = sizeof http,
                                    .needs = CRB_PART_HEADERS | CRB_PART_BODY | CRB_PART_URL,
                                    .on_request = on_http,
                                    .on_head = on_head,
                                    .on_chunk = on_chunk};
static const crb_cache_stage cache = {
    .size = sizeof cache, .needs = CRB_PART_JSON | CRB_PART_DATA, .on_read = on_read, .on_write = on_write};
static const crb_parser_stage parser = {
    .size = sizeof parser, .needs = CRB_PART_HEADERS, .on_head = on_parser_head, .on_chunk = on_parser_chunk};

static void member(const char *json, const char *name, char *out, size_t room) {
  const char *at = strstr(json, name);
  size_t used = 0;
  if (!at) return;
  for (at += strlen(name); *at && *at != '"' && used < room - 1; at++) out[used++] = *at;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  instance *i = calloc(1, sizeof *i);
  char *json = strndup((const char *)info->config_json.ptr, info->config_json.len);
  (void)h, (void)why;
  member(json, "\"hook\":\"", i->hook, sizeof i->hook);
  member(json, "\"folder\":\"", i->folder, sizeof i->folder);
  free(json);
  *inst = i;
  return CRB_OK;
}

/* The instance is never freed, because its thread may still be running. */
static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.late",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\"}",
                                            .graphql = &graphql,
                                            .http = &http,
                                            .cache = &cache,
                                            .parser = &parser,
                                            .create = create};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
