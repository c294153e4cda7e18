#define _GNU_SOURCE
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int is_true, const char *what) {
  if (is_true) return;
  perror(what);
  exit(1);
}

static int plugin_file(const char *path) {
  static char block[1 << 16];
  int from = open(path, O_RDONLY | O_CLOEXEC), file = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  check(from >= 0 && file >= 0, path);
  for (ssize_t length; (length = read(from, block, sizeof block)) > 0;) check(write(file, block, (size_t)length) == length, "write");
  close(from);
  check(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0, "seal");
  int high = fcntl(file, F_DUPFD_CLOEXEC, 100);
  close(file);
  return high;
}

static void reply_to(struct host *host, uint32_t place, uint32_t generation, const struct CCrossing_question *asked) {
  int32_t status = CRB_OK;
  const struct CCrossing_record *record = CCrossing_arena(host->pairs[0].up, asked->block);
  const uint8_t *value = (const uint8_t *)(record + 1) + (record->name == CCROSSING_ABSENT ? 0 : record->name);
  host->callbacks++;
  if (asked->request == CCROSSING_CHECK) status = value[0] == '{' ? CRB_OK : CRB_E_INVAL;
  if (asked->request == CCROSSING_FETCH) host->fetch = asked->number;
  if (asked->request == CCROSSING_STORE) host->store = asked->number;
  if (asked->request == CCROSSING_LOG) host->lines++;
  if (asked->request == CCROSSING_KEY) host->keys = asked->argument;
  CCrossing_reply(host->pairs[0].down, place, generation, status);
}

static void *answer_callbacks(void *user) {
  struct host *host = user;
  static uint32_t seen[CCROSSING_CALLBACKS];
  memset(seen, 0, sizeof seen);
  for (uint64_t count; read(host->bell, &count, sizeof count) == sizeof count;) {
    for (uint32_t place = 0; place < CCROSSING_CALLBACKS; place++) {
      struct CCrossing_question asked;
      uint32_t generation = CCrossing_asked(host->pairs[0].up, place, seen[place], &asked);
      if (generation != seen[place]) reply_to(host, place, seen[place] = generation, &asked);
    }
  }
  return NULL;
}

/* The text of the worker and of its plugins. */
static void *read_output(void *user) {
  struct host *host = user;
  FILE *output = fdopen(host->output, "r");
  check(output != NULL, "fdopen");
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, output) > 0) {
    if (!strcmp(line, "deinit\n")) host->deinits++;
    else fputs(line, stderr);
  }
  free(line);
  fclose(output);
  return NULL;
}

static void become_worker(const char *worker, uint32_t lanes, const int *files, uint32_t count, uint32_t plugins, int output) {
  char parent[16], lane_text[16], plugin_text[16], arena[16];
  snprintf(parent, sizeof parent, "%d", (int)getppid());
  snprintf(lane_text, sizeof lane_text, "%u", lanes);
  snprintf(plugin_text, sizeof plugin_text, "%u", plugins);
  snprintf(arena, sizeof arena, "%d", ARENA);
  dup2(output, 1);
  dup2(output, 2);
  for (uint32_t index = 0; index < count; index++) dup2(files[index], (int)(CCROSSING_REPORT + index));
  const char *memory = getenv("MEMORY"), *strict = getenv("CONFINE");
  execl(worker, "carabiner-worker", "--parent", parent, "--user", "65534:65534", "--memory", memory ? memory : "268435456", "--confine",
        strict ? strict : "available", "--layers", "0", "--lanes", lane_text, "--arena", arena, "--plugins", plugin_text, "--read", "/usr/lib",
        NULL);
  _exit(127);
}

void start(struct host *host, const char *worker, uint32_t lanes, char *const *plugins, uint32_t count) {
  int files[64], used = 0, ends[2], output[2];
  memset(host, 0, sizeof *host);
  host->lanes = lanes;
  check(pipe2(ends, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0, "pipe");
  host->bell = fcntl(eventfd(0, EFD_CLOEXEC), F_DUPFD_CLOEXEC, 100);
  files[used++] = fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
  files[used++] = host->bell;
  for (uint32_t number = 0; number <= lanes; number++) {
    struct pair *pair = &host->pairs[number];
    void *down, *up;
    for (int isDown = 1; isDown >= 0; isDown--) {
      int file = CCrossing_make(ARENA, isDown, isDown ? &down : &up);
      check(file >= 0, "CCrossing_make");
      files[used++] = fcntl(file, F_DUPFD_CLOEXEC, 100);
      close(file);
    }
    pair->down = down;
    pair->up = up;
    pair->down->lanes = lanes;
    CCrossing_setLevels(pair->down, 1u << CRB_LOG_WARN | 1u << CRB_LOG_ERROR);
    CCrossing_openSpace(&pair->space, ARENA);
    pthread_mutex_init(&pair->lock, NULL);
  }
  for (uint32_t index = 0; index < count; index++) files[used++] = plugin_file(plugins[index]);
  host->pid = fork();
  if (host->pid == 0) become_worker(worker, lanes, files, (uint32_t)used, count, output[1]);
  for (int index = 0; index < used; index++) {
    if (files[index] != host->bell) close(files[index]);
  }
  close(ends[1]);
  close(output[1]);
  host->output = output[0];
  pthread_create(&host->reader, NULL, read_output, host);
  char report[8192];
  size_t length = 0;
  for (ssize_t got; (got = read(ends[0], report + length, sizeof report - 1 - length)) > 0;) length += (size_t)got;
  report[length] = 0;
  if (getenv("REPORT")) printf("%s", report);
  check(strstr(report, "confined\n") != NULL, "the worker is not confined");
  while (!CCrossing_isReady(host->pairs[0].up)) CCrossing_sleep(&host->pairs[0].up->ready, 0, 10000000);
  close(ends[0]);
  pthread_t thread;
  pthread_create(&thread, NULL, answer_callbacks, host);
  pthread_detach(thread);
}

static void push(struct pair *pair, const struct CCrossing_post *made) {
  while (pair->tail - CCrossing_begun(pair->up) >= CCROSSING_RING) usleep(10);
  pair->tail = CCrossing_post(pair->down, pair->up, pair->tail, made);
}

uint32_t post(struct host *host, uint32_t number, uint16_t operation, uint16_t kind, uint32_t instance, uint64_t call, const void *message,
              uint32_t length) {
  struct pair *pair = &host->pairs[number];
  pthread_mutex_lock(&pair->lock);
  uint32_t slot = 0;
  while (slot < CCROSSING_SLOTS && pair->slots[slot].is_used) slot++;
  check(slot < CCROSSING_SLOTS, "a slot");
  uint32_t block = length ? CCrossing_take(&pair->space, length) : 0;
  check(block != UINT32_MAX, "space");
  if (length) memcpy(CCrossing_arena(pair->down, block), message, length);
  pair->generation = pair->generation % INT32_MAX + 1;
  pair->slots[slot] = (struct slot){1, pair->generation, block, length};
  struct CCrossing_post made = {operation, kind, slot, pair->generation, instance, call, block, length};
  push(pair, &made);
  pthread_mutex_unlock(&pair->lock);
  return slot;
}

void post_without_slot(struct host *host, uint32_t number, uint16_t operation, uint32_t instance, uint64_t call, uint32_t generation) {
  struct pair *pair = &host->pairs[number];
  struct CCrossing_post made = {operation, 0, CCROSSING_NO_SLOT, generation, instance, call, 0, 0};
  pthread_mutex_lock(&pair->lock);
  push(pair, &made);
  pthread_mutex_unlock(&pair->lock);
}

struct result await_answer(struct host *host, uint32_t number, uint32_t slot, int until_pending) {
  struct pair *pair = &host->pairs[number];
  uint32_t generation = pair->slots[slot].generation;
  struct CCrossing_answer answer;
  struct result result = {0};
  uint64_t end = CCrossing_now() + UINT64_C(20000000000);
  int what;
  while ((what = CCrossing_await(pair->down, pair->up, slot, generation, end, &pair->budget, &answer)) != CCROSSING_ANSWERED) {
    check(CCrossing_now() < end, "an answer: lost wake-up");
    if (what != CCROSSING_IS_PENDING) continue;
    result.was_pending = 1;
    if (until_pending) return result;
    /* The answer changes the word too. */
    atomic_store(&pair->down->slots[slot].sleeps, generation);
    CCrossing_sleep(&pair->up->slots[slot].state, 2 * generation, 1000000000);
  }
  result.verdict = answer.verdict;
  result.is_kept = answer.flags & CCROSSING_KEPT;
  result.nanoseconds = answer.nanoseconds;
  result.length = answer.length;
  result.bytes = malloc(answer.length + 1);
  memcpy(result.bytes, CCrossing_arena(pair->up, answer.block), answer.length);
  CCrossing_done(pair->down, slot, generation);
  pthread_mutex_lock(&pair->lock);
  if (pair->slots[slot].length) CCrossing_give(&pair->space, pair->slots[slot].block, pair->slots[slot].length);
  pair->slots[slot].is_used = 0;
  pthread_mutex_unlock(&pair->lock);
  return result;
}

int stop(struct host *host) {
  int status = -1;
  post_without_slot(host, 0, CCROSSING_SHUTDOWN, 0, 0, 0);
  waitpid(host->pid, &status, 0);
  pthread_join(host->reader, NULL); /* the rest of its output */
  return status;
}

/* ---- Messages ---- */

static uint32_t put(struct message *message, const void *bytes, size_t length) {
  uint32_t place = message->length;
  memcpy(message->bytes + place, bytes, length);
  message->length += (uint32_t)length;
  return place;
}

void add(struct message *message, uint16_t kind, uint32_t a, uint32_t b, uint64_t number, const char *name, const char *value) {
  struct CCrossing_record record = {.kind = kind, .a = a, .b = b, .number = number};
  record.name = name ? (uint32_t)strlen(name) : CCROSSING_ABSENT;
  record.value = value ? (uint32_t)strlen(value) : CCROSSING_ABSENT;
  put(message, &record, sizeof record);
  if (name) put(message, name, record.name);
  if (value) put(message, value, record.value);
  while (message->length % 8) put(message, "", 1);
}

static struct CCrossing_text put_text(struct message *message, const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  return (struct CCrossing_text){put(message, text, length), length};
}

static void snapshot(struct message *message, const char *what, const char *json) {
  enum { FIELDS = 3 };
  static const char *const names[FIELDS] = {"Do", "X-One", "X-Gone"};
  const char *values[FIELDS] = {what, "1", "0"};
  struct CCrossing_snapshot snapshot = {.request_id = 42, .deadline_ns = 1u << 30, .attempt = 1, .operation_type = 2};
  struct CCrossing_field fields[FIELDS] = {0};
  struct CCrossing_part part = {.part = CRB_PART_DOCUMENT};
  message->length = sizeof snapshot + sizeof part + sizeof fields;
  for (int index = 0; index < FIELDS; index++) {
    fields[index].name = put_text(message, names[index]);
    fields[index].value = put_text(message, values[index]);
  }
  part.bytes = put_text(message, "{ hero }");
  snapshot.parts = 1;
  snapshot.fields = FIELDS;
  for (int index = 0; index < 6; index++) snapshot.texts[index].length = CCROSSING_ABSENT;
  if (json) {
    snapshot.event = CCROSSING_RESULT;
    snapshot.number = 5;
    snapshot.texts[0] = put_text(message, json);
  }
  memcpy(message->bytes, &snapshot, sizeof snapshot);
  memcpy(message->bytes + sizeof snapshot, &part, sizeof part);
  memcpy(message->bytes + sizeof snapshot + sizeof part, fields, sizeof fields);
}

void request(struct message *message, const char *what) { snapshot(message, what, NULL); }
void show_result(struct message *message, const char *json) { snapshot(message, "", json); }

const char *value_of(const struct result *result, uint16_t kind, const char *name, struct CCrossing_record *copy) {
  static char value[4096];
  for (uint32_t at = 0; at + sizeof *copy <= result->length;) {
    memcpy(copy, result->bytes + at, sizeof *copy);
    uint32_t names = copy->name == CCROSSING_ABSENT ? 0 : copy->name, values = copy->value == CCROSSING_ABSENT ? 0 : copy->value;
    const char *texts = (const char *)result->bytes + at + sizeof *copy;
    at += (uint32_t)sizeof *copy + ((names + values + 7) & ~7u);
    if (copy->kind != kind || (name && (strlen(name) != names || memcmp(name, texts, names)))) continue;
    snprintf(value, sizeof value, "%.*s", (int)(values < sizeof value ? values : sizeof value - 1), texts + names);
    return value;
  }
  return NULL;
}
