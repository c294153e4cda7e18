/* A plugin that attacks its host from a worker: it writes to the memory that it shares with the host, past the worker's own code.  Its
 * configuration selects the attack: {"mode": "..."}.  With the mode "wait" it is honest, and waits for a timer of 3 ms. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crossing.h"

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.attack.worker\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { MOST_MAPS = 64, CHECK_BYTES = 32 << 20, ERROR_BYTES = 32 << 20, FETCH_BYTES = 4 << 20, FETCHES = 192 };

static const crb_host *host;
static crb_self self;
static char mode[32], target[256];
static struct CCrossing_up *control, *lane;

struct map {
  unsigned long start, file;
};

static int by_file(const void *one, const void *other) {
  unsigned long first = ((const struct map *)one)->file, second = ((const struct map *)other)->file;
  return first < second ? -1 : first > second;
}

/* The host makes the pairs one after another, first that of the control thread: down, up, down, up. */
static int find_memory(void) {
  struct map maps[MOST_MAPS];
  int count = 0;
  char line[512], rights[8];
  FILE *file = fopen("/proc/self/maps", "r");
  while (file && count < MOST_MAPS && fgets(line, sizeof line, file)) {
    struct map *map = &maps[count];
    int is_shared = strstr(line, "/memfd:carabiner") && sscanf(line, "%lx-%*x %7s %*x %*s %lu", &map->start, rights, &map->file) == 3;
    if (is_shared && rights[3] == 's') count++;
  }
  if (file) fclose(file);
  if (count < 4) return 0;
  qsort(maps, (size_t)count, sizeof *maps, by_file);
  control = (void *)maps[1].start;
  lane = (void *)maps[3].start;
  return 1;
}

static char *write_record(char *at, int kind, uint32_t flags, uint64_t number, const char *name, const char *value, size_t length) {
  struct CCrossing_record record = {.kind = (uint16_t)kind, .b = flags, .number = number,
                                    .name = name ? (uint32_t)strlen(name) : CCROSSING_ABSENT, .value = (uint32_t)length};
  memcpy(at, &record, sizeof record);
  at += sizeof record;
  if (name) memcpy(at, name, record.name), at += record.name;
  if (value) memcpy(at, value, length);
  at += length;
  return at + (8 - ((uintptr_t)at & 7)) % 8;
}

static void ask(uint32_t place, uint16_t request, uint32_t instance, uint32_t argument, uint64_t number, size_t length) {
  struct CCrossing_callback *to = &control->callbacks[place];
  to->request = request;
  to->instance = instance;
  to->argument = argument;
  to->number = number;
  to->block = 0;
  to->length = (uint32_t)length;
  atomic_store(&to->asked, atomic_load(&to->asked) + 1);
}

static void ring(void) {
  uint64_t one = 1;
  if (write(CCROSSING_BELL, &one, sizeof one) < 0) abort();
}

/* Many long texts to check, with one wake-up. */
static void *ask_for_checks(void *unused) {
  char *start = CCrossing_arena(control, 0), *text = start + sizeof(struct CCrossing_record);
  write_record(start, CCROSSING_BODY, 0, 0, NULL, NULL, CHECK_BYTES);
  memset(text, '1', CHECK_BYTES);
  for (size_t index = 7; index < CHECK_BYTES - 3; index += 2) text[index] = ',';
  memcpy(text, "{\"a\":[", 6);
  memcpy(text + CHECK_BYTES - 2, "]}", 2);
  for (int round = 0; round < 4; round++, usleep(100000)) {
    for (uint32_t place = 0; place < CCROSSING_CALLBACKS; place++) {
      ask(place, CCROSSING_CHECK, 0, CRB_PART_VARIABLES, 0, sizeof(struct CCrossing_record) + CHECK_BYTES);
    }
    ring();
  }
  return unused;
}

static void *flip(void *word) {
  for (uint64_t running = (uint64_t)(uintptr_t)word;; running ^= 2, usleep(500)) atomic_store(&lane->running, running);
  return NULL;
}

static void start(void *(*body)(void *), void *user) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, user)) abort();
}

static void answer_with_long_error(void) {
  uint64_t running = atomic_load(&lane->running);
  uint32_t block = 1024, slot = (uint32_t)(running >> 8 & 0xffffff);
  char *at = CCrossing_arena(lane, block);
  write_record(at, CCROSSING_FAILURE, CRB_ERROR_PLUGIN_FAULT, 0, NULL, NULL, ERROR_BYTES);
  memset(at + sizeof(struct CCrossing_record), 'm', ERROR_BYTES);
  struct CCrossing_up_slot *to = &lane->slots[slot];
  to->verdict = CRB_FAIL;
  to->block = block;
  to->length = sizeof(struct CCrossing_record) + ERROR_BYTES;
  atomic_store(&to->state, 2 * (uint32_t)(running >> 32) + 1);
  ring();
  sleep(1);
}

static void fetched(void *user, const crb_head *head, crb_view body, const crb_error *error) {
  (void)user, (void)head, (void)body, (void)error;
}

static void hold_requests(void) {
  static uint8_t body[FETCH_BYTES];
  const crb_fetch_service *service = host->query(self, "crb.fetch/1");
  crb_fetch_request request = {.size = sizeof request, .timeout_ns = UINT64_C(3600000000000), .body = {body, sizeof body},
                               .url = {(const uint8_t *)target, strlen(target)}};
  for (int count = 0; service && count < FETCHES; count++) service->start(self, &request, fetched, NULL);
}

static void fire(void *token) { host->resume((crb_token)(uintptr_t)token, CRB_CONTINUE); }

static crb_verdict wait_a_little(crb_call call) {
  const crb_timer_service *timers = host->query(self, "crb.timer/1");
  crb_token token = host->suspend(call);
  return token && timers && timers->arm(self, 3000000, fire, (void *)(uintptr_t)token) ? CRB_PENDING : CRB_FAIL;
}

static crb_verdict on_request(void *instance, crb_call call, void **state) {
  (void)instance, (void)state;
  if (!strcmp(mode, "wait")) return wait_a_little(call);
  if (!strcmp(mode, "fetch")) return hold_requests(), CRB_CONTINUE;
  if (!strcmp(mode, "print")) {
    static const char text[] = "MARK \xc2\x9b" "31m \xe2\x80\xae \xe2\x80\xa8 \xff\n";
    return write(1, text, sizeof text - 1) < 0 ? CRB_FAIL : CRB_CONTINUE;
  }
  if (!find_memory()) return CRB_FAIL;
  if (!strcmp(mode, "check")) start(ask_for_checks, NULL);
  if (!strcmp(mode, "error")) answer_with_long_error();
  if (!strcmp(mode, "flip")) {
    start(flip, (void *)(uintptr_t)atomic_load(&lane->running));
    for (;;) sleep(1);
  }
  return CRB_CONTINUE;
}

static const crb_graphql_stage stage = {
    .size = sizeof stage, .needs = CRB_PART_HEADERS, .mutates = CRB_PART_HEADERS, .on_request = on_request};

static void member(crb_view json, const char *name, char *out, size_t size) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
  const char *begin = memmem(json.ptr, json.len, quoted, strlen(quoted));
  if (begin) snprintf(out, size, "%.*s", (int)strcspn(begin + strlen(quoted), "\""), begin + strlen(quoted));
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **instance, crb_error *why) {
  (void)why;
  host = h;
  self = info->self;
  member(info->config_json, "mode", mode, sizeof mode);
  member(info->config_json, "target", target, sizeof target);
  *instance = NULL;
  return CRB_OK;
}

static const crb_interceptor hostile = {
    .size = sizeof hostile, .thread_class = CRB_THREADS_CONCURRENT, .id = "org.carabiner.attack.worker", .version = "1.0.0",
    .config_schema = "{\"type\":\"object\"}", .graphql = &stage, .create = create};
static const crb_interceptor *const items[] = {&hostile};
static const crb_plugin table = {
    .size = sizeof table, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &table;
}
