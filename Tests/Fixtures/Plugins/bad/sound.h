/* The rest of a plugin: correct versions of everything that a fixture does not define.
 *
 * A fixture includes carabiner.h, defines its one fault, names it with a #define, and includes this file last:
 *
 *     #include <carabiner.h>
 *     static crb_verdict on_end(void *inst, crb_call call, void *state) { return CRB_RETRY; }
 *     #define ON_END on_end
 *     #include "sound.h"
 *
 * A fixture that calls the host includes host.h after carabiner.h.  Stages are GraphQL alone unless it defines STAGES as some of
 * STAGE_GRAPHQL | STAGE_HTTP | ... */
#include <stdlib.h>
#include <string.h>

#ifndef ID
#define ID "org.carabiner.test.bad"
#endif
#ifndef NOTE
#define NOTE "{\"id\":\"" ID "\",\"version\":\"1.0.0\",\"abi\":[1,0]}"
#endif
CRB_DECLARE_NOTE(NOTE);

#include "host.h"

#define STAGE_GRAPHQL 1
#define STAGE_HTTP 2
#define STAGE_CACHE 4
#define STAGE_PARSER 8
#ifndef STAGES
#define STAGES STAGE_GRAPHQL
#endif

/* A state that is made in the first hook and freed in release(). */
static crb_verdict sound_on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  return *state ? CRB_CONTINUE : CRB_FAIL;
}
/* The correct parser leaves every response to the next one. */
static crb_verdict sound_on_parser_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call, (void)state, (void)head;
  return CRB_DROP;
}
static crb_verdict sound_on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  return CRB_CONTINUE;
}
static crb_verdict sound_on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)call, (void)state, (void)head;
  return CRB_CONTINUE;
}
static crb_verdict sound_on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call, (void)state, (void)chunk;
  return CRB_CONTINUE;
}
static crb_verdict sound_on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call, (void)state, (void)error;
  return CRB_CONTINUE;
}
static crb_verdict sound_on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}
static void sound_on_cancel(void *inst, crb_call call, void *state) { (void)inst, (void)call, (void)state; }
static void sound_release(void *inst, void *state) {
  (void)inst;
  free(state);
}
static crb_status sound_create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static void sound_destroy(void *inst) { free(inst); }

/* Each of them can be unused. */
static void *const sound_functions[] __attribute__((unused)) = {
    (void *)sound_on_request, (void *)sound_on_parser_head, (void *)sound_on_result, (void *)sound_on_head,
    (void *)sound_on_chunk,   (void *)sound_on_error,       (void *)sound_on_end,    (void *)sound_on_cancel,
    (void *)sound_release,    (void *)sound_create,         (void *)sound_destroy};

#ifndef NEEDS
#define NEEDS 0
#endif
#ifndef MUTATES
#define MUTATES 0
#endif
#ifndef ON_ERROR
#define ON_ERROR sound_on_error
#endif
#ifndef ON_END
#define ON_END sound_on_end
#endif
#ifndef ON_CANCEL
#define ON_CANCEL sound_on_cancel
#endif
#ifndef RELEASE
#define RELEASE sound_release
#endif

#ifndef GRAPHQL_ON_REQUEST
#define GRAPHQL_ON_REQUEST sound_on_request
#endif
#ifndef GRAPHQL_ON_RESULT
#define GRAPHQL_ON_RESULT sound_on_result
#endif
static const crb_graphql_stage graphql_stage __attribute__((unused)) = {
    .size = sizeof graphql_stage, .needs = NEEDS, .mutates = MUTATES, .on_request = GRAPHQL_ON_REQUEST, .on_result = GRAPHQL_ON_RESULT,
    .on_error = ON_ERROR, .on_end = ON_END, .on_cancel = ON_CANCEL, .release = RELEASE};

#ifndef HTTP_ON_REQUEST
#define HTTP_ON_REQUEST sound_on_request
#endif
#ifndef HTTP_ON_HEAD
#define HTTP_ON_HEAD sound_on_head
#endif
#ifndef HTTP_ON_CHUNK
#define HTTP_ON_CHUNK sound_on_chunk
#endif
static const crb_http_stage http_stage __attribute__((unused)) = {
    .size = sizeof http_stage, .needs = NEEDS, .mutates = MUTATES, .on_request = HTTP_ON_REQUEST, .on_head = HTTP_ON_HEAD,
    .on_chunk = HTTP_ON_CHUNK, .on_error = ON_ERROR, .on_end = ON_END, .on_cancel = ON_CANCEL, .release = RELEASE};

#ifndef CACHE_ON_READ
#define CACHE_ON_READ sound_on_request
#endif
#ifndef CACHE_ON_WRITE
#define CACHE_ON_WRITE sound_on_result
#endif
static const crb_cache_stage cache_stage __attribute__((unused)) = {
    .size = sizeof cache_stage, .needs = NEEDS, .mutates = MUTATES, .on_read = CACHE_ON_READ, .on_write = CACHE_ON_WRITE,
    .on_cancel = ON_CANCEL, .release = RELEASE};

#ifndef PARSER_ON_HEAD
#define PARSER_ON_HEAD sound_on_parser_head
#endif
#ifndef PARSER_ON_CHUNK
#define PARSER_ON_CHUNK sound_on_chunk
#endif
#ifndef PARSER_ON_END
#define PARSER_ON_END sound_on_end
#endif
static const crb_parser_stage parser_stage __attribute__((unused)) = {
    .size = sizeof parser_stage, .needs = NEEDS, .mutates = MUTATES, .on_head = PARSER_ON_HEAD, .on_chunk = PARSER_ON_CHUNK,
    .on_error = ON_ERROR, .on_end = PARSER_ON_END, .on_cancel = ON_CANCEL, .release = RELEASE};

#ifndef THREADS
#define THREADS CRB_THREADS_CONCURRENT
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef SCHEMA
#define SCHEMA NULL
#endif
#ifndef VALIDATE
#define VALIDATE NULL
#endif
#ifndef CREATE
#define CREATE sound_create
#endif
#ifndef DESTROY
#define DESTROY sound_destroy
#endif
#ifndef DRAIN
#define DRAIN NULL
#endif
#ifndef EXTENSION
#define EXTENSION NULL
#endif

#ifndef OWN_TABLE
static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = THREADS,
    .id = ID,
    .version = VERSION,
    .config_schema = SCHEMA,
    .graphql = STAGES & STAGE_GRAPHQL ? &graphql_stage : NULL,
    .http = STAGES & STAGE_HTTP ? &http_stage : NULL,
    .cache = STAGES & STAGE_CACHE ? &cache_stage : NULL,
    .parser = STAGES & STAGE_PARSER ? &parser_stage : NULL,
    .validate = VALIDATE,
    .create = CREATE,
    .drain = DRAIN,
    .destroy = DESTROY,
    .extension = EXTENSION};
static const crb_interceptor *const items[] = {&interceptor};
#ifndef INIT
#define INIT NULL
#endif
#ifndef DEINIT
#define DEINIT NULL
#endif
static const crb_plugin plugin = {.size = sizeof plugin,
                                  .abi_major = CRB_ABI_MAJOR,
                                  .abi_minor_built = CRB_ABI_MINOR,
                                  .count = 1,
                                  .items = items,
                                  .init = INIT,
                                  .deinit = DEINIT};
#ifndef OWN_ENTRY
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  self = h->self;
  return &plugin;
}
#endif
#endif
