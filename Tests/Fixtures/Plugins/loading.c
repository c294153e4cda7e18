/* A plugin with one thing wrong, chosen with -DNAME when it is compiled. */
#include <carabiner.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef NO_NOTE
#ifdef NOTE_OTHER_ID
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.other\",\"version\":\"1.0.0\",\"abi\":[1,0]}");
#elif defined(NOTE_NEWER)
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.loading\",\"version\":\"1.0.0\",\"abi\":[1,7]}");
#elif defined(NOTE_MAJOR)
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.loading\",\"version\":\"1.0.0\",\"abi\":[2,0]}");
#elif defined(NOTE_SWIFT)
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.loading\",\"version\":\"1.0.0\",\"abi\":[1,0]" CRB_NOTE_SWIFT "}");
#elif defined(NOTE_BROKEN)
CRB_DECLARE_NOTE("{\"id\":");
#else
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.loading\",\"version\":\"1.0.0\",\"abi\":[1,0]}");
#endif
#endif

#ifdef UNRESOLVED
void nobody_defines_this(void);
#endif
#ifdef NEEDS
/* From library.c. The plugin refuses to work with other versions. */
int fixture_number(void);
#endif

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
#ifdef UNRESOLVED
  nobody_defines_this();
#endif
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {
#ifdef SMALL_STAGE
                                          .size = 8,
#else
                                          .size = sizeof graphql,
#endif
#ifndef NULL_SLOT
                                          .on_request = on_request
#endif
};

#ifdef NULL_HTTP_SLOT
static const crb_http_stage http = {.size = sizeof http};
#endif
#ifdef NULL_CACHE_SLOT
static const crb_cache_stage cache = {.size = sizeof cache};
#endif
#ifdef NULL_PARSER_SLOT
static const crb_parser_stage parser = {.size = sizeof parser};
#elif defined(ACCEPT)
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call, (void)state, (void)head;
  return CRB_DROP;
}
static const crb_parser_stage parser = {
#ifdef OLD_PARSER
    .size = offsetof(crb_parser_stage, accept),
#else
    .size = sizeof parser,
#endif
    .on_head = on_head,
    .accept = ACCEPT};
#endif

static crb_status create(const crb_host *host, const crb_create_info *info, void **inst, crb_error *why) {
  (void)host, (void)info, (void)why;
  *inst = NULL;
  return CRB_OK;
}

static const crb_interceptor interceptor = {
#ifdef SMALL_INTERCEPTOR
    .size = 16,
#else
    .size = sizeof interceptor,
#endif
#ifdef BAD_THREADS
    .thread_class = 9,
#else
    .thread_class = CRB_THREADS_CONCURRENT,
#endif
#ifdef BAD_ID
    .id = "no reverse DNS",
#else
    .id = "org.carabiner.test.loading",
#endif
#ifdef NO_VERSION
    .version = "",
#else
    .version = "1.0.0",
#endif
#ifndef NO_STAGE
    .graphql = &graphql,
#endif
#ifdef NULL_HTTP_SLOT
    .http = &http,
#endif
#ifdef NULL_CACHE_SLOT
    .cache = &cache,
#endif
#if defined(NULL_PARSER_SLOT) || defined(ACCEPT)
    .parser = &parser,
#endif
#ifndef NO_CREATE
    .create = create
#endif
};
#ifdef TWICE
static const crb_interceptor *const items[] = {&interceptor, &interceptor};
#elif defined(NULL_ITEM)
static const crb_interceptor *const items[] = {NULL};
#else
static const crb_interceptor *const items[] = {&interceptor};
#endif

static crb_status init(const crb_host *host, crb_view origin) {
  (void)host, (void)origin;
#ifdef INIT_FAILS
  return CRB_E_INTERNAL;
#else
  return CRB_OK;
#endif
}

static const crb_plugin plugin = {
#ifdef SMALL_TABLE
    .size = 8,
#else
    .size = sizeof plugin,
#endif
#ifdef TABLE_MAJOR
    .abi_major = CRB_ABI_MAJOR + 1,
#else
    .abi_major = CRB_ABI_MAJOR,
#endif
    .abi_minor_built = CRB_ABI_MINOR,
#ifdef TABLE_NEWER
    .abi_minor_required = 9,
#endif
#ifdef NO_INTERCEPTORS
    .count = 0,
#else
    .count = sizeof items / sizeof *items,
#endif
    .items = items,
    .init = init};

#ifdef ENTRY_IS_DATA
extern CRB_EXPORT const crb_plugin *const data __asm__("crb_entry_v1");
const crb_plugin *const data = &plugin;
static const crb_plugin *unused(const crb_host *host) {
#elif defined(NO_ENTRY)
CRB_EXPORT const crb_plugin *another_name(const crb_host *host) {
#else
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *host) {
#endif
  (void)host;
#ifdef NEEDS
  if (fixture_number() != NEEDS) return NULL;
#endif
#ifdef ENTRY_NULL
  return NULL;
#elif defined(ENTRY_CRASHES)
  *(volatile int *)0 = 1;
#elif defined(ENTRY_HANGS)
  for (volatile int i = 0;; i++) {}
#elif defined(ENTRY_FORKS)
  /* A child that ignores signals, holds the pipes open and writes its process id to a file. */
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }
  FILE *file = fopen(getenv("TEST_CHILD_FILE"), "w");
  if (file) {
    fprintf(file, "%d", (int)child);
    fclose(file);
  }
#ifdef ENTRY_WAITS
  for (;;) pause();
#endif
#elif defined(ENTRY_EXITS)
  _exit(0);
#elif defined(ENTRY_FLOODS)
  for (int i = 0; i < 200000; i++) puts("0123456789012345678901234567890123456789");
#endif
  return &plugin;
}
#ifdef ENTRY_IS_DATA
const crb_plugin *another_name(const crb_host *host) { return unused(host); }
#endif
