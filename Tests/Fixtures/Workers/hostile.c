/* A worker that keeps the protocol until its turn comes, and then breaks one rule.  The last bytes of its plugin's file name the turn:
 * "turn=NAME\n".  It confines nothing and maps no plugin.  Its plugin would be org.carabiner.test.crash. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crossing.h"

struct lane {
  const struct CCrossing_down *down;
  struct CCrossing_up *up;
  uint32_t number, begun, budget, hooks;
};

static struct lane lanes[CCROSSING_MOST_LANES + 1];
static uint64_t arena, lane_count;
static char turn[64];
static long starts;
static uint32_t instance;
static _Atomic uint32_t attention;

static int is(const char *name) { return strcmp(turn, name) == 0; }
static int begins(const char *name) { return strncmp(turn, name, strlen(name)) == 0; }

_Noreturn static void wait_for_the_end(void) {
  for (;;) pause();
}

static void nap(unsigned milliseconds) { usleep(1000 * milliseconds); }

static void ring(uint64_t count) {
  if (write(CCROSSING_BELL, &count, sizeof count) < 0) return;
}

/* ---- Messages ---- */

struct message {
  uint8_t *bytes;
  size_t length;
};

static void put(struct message *message, const void *bytes, size_t length) {
  message->bytes = realloc(message->bytes, message->length + length + 8);
  if (length) memcpy(message->bytes + message->length, bytes, length);
  message->length += length;
}

static void add_bytes(struct message *message, struct CCrossing_record record, const void *name, size_t names, const void *value,
                      size_t values) {
  record.name = name ? (uint32_t)names : CCROSSING_ABSENT;
  record.value = value ? (uint32_t)values : CCROSSING_ABSENT;
  put(message, &record, sizeof record);
  put(message, name, name ? names : 0);
  put(message, value, value ? values : 0);
  while (message->length % 8) put(message, "", 1);
}

static void add(struct message *message, struct CCrossing_record record, const char *name, const char *value) {
  add_bytes(message, record, name, name ? strlen(name) : 0, value, value ? strlen(value) : 0);
}

/* An answer whose message is at the place of its slot in the arena. */
static struct CCrossing_answer place(struct lane *lane, uint32_t slot, struct message *message) {
  struct CCrossing_answer answer = {.length = (uint32_t)message->length};
  uint64_t blocks = arena / CCROSSING_BLOCK, share = blocks / CCROSSING_SLOTS;
  /* A long message has the arena for itself. */
  answer.block = CCrossing_blocks(message->length) > share ? 0 : (uint32_t)(slot * share);
  if (message->length) memcpy(CCrossing_arena(lane->up, answer.block), message->bytes, message->length);
  free(message->bytes);
  *message = (struct message){0};
  return answer;
}

static void publish(struct lane *lane, const struct CCrossing_post *post, const struct CCrossing_answer *answer) {
  if (CCrossing_publish(lane->down, lane->up, post, answer)) ring(1);
}

/* Publishes a state that the host did not ask for. */
static void claim(struct lane *lane, uint32_t slot, uint32_t generation) {
  atomic_store(&lane->up->slots[slot].state, 2 * generation + 1);
  ring(1);
}

/* ---- The control thread ---- */

static void describe(struct message *message) {
  int is_other = is("other-id"), many = is("many-interceptors") ? 65 : 1;
  char name[32];
  snprintf(name, sizeof name, "start %ld", is("other-table") ? starts : 0);
  for (int count = 0; count < many; count++) {
    add(message, (struct CCrossing_record){.kind = CCROSSING_INTERCEPTOR, .a = CRB_THREADS_CONCURRENT, .b = CCROSSING_HAS_STATE},
        is_other ? "org.carabiner.test.other" : "org.carabiner.test.crash", "1.0.0");
  }
  add(message, (struct CCrossing_record){.kind = CCROSSING_TEXT, .a = CCROSSING_TEXT_SCHEMA}, NULL, "{\"type\":\"object\"}");
  add(message, (struct CCrossing_record){.kind = CCROSSING_TEXT, .a = CCROSSING_TEXT_NAME}, NULL, name);
  uint32_t hooks = 1u << CCROSSING_ON_REQUEST | 1u << CCROSSING_ON_RESULT | 1u << CCROSSING_ON_END;
  add(message, (struct CCrossing_record){.kind = CCROSSING_STAGE, .a = is("stage-kind") ? 9 : 0, .b = hooks,
                                         .number = CRB_PART_HEADERS | CRB_PART_VARIABLES},
      NULL, NULL);
  if (is("strange-record")) add(message, (struct CCrossing_record){.kind = CCROSSING_EMIT}, NULL, "?");
  if (is("cut-table")) message->length -= 9;
}

static void save(struct message *message) {
  size_t length = is("large-state") ? CRB_STATE_MAX_BYTES + 1 : 4;
  char *bytes = calloc(1, length);
  add_bytes(message, (struct CCrossing_record){.kind = is("strange-state") ? CCROSSING_EMIT : CCROSSING_STATE, .number = 1}, NULL, 0,
            bytes, length);
  free(bytes);
}

static void handle(const struct CCrossing_post *post) {
  struct lane *control = &lanes[0];
  struct message message = {0};
  int32_t status = CRB_OK;
  switch (post->operation) {
    case CCROSSING_SHUTDOWN:
      if (is("no-shutdown")) wait_for_the_end();
      _exit(0);
    case CCROSSING_LOAD:
      if (is("crash-load")) abort();
      if (is("pending-load")) {
        CCrossing_pend(control->down, control->up, post);
        return;
      }
      describe(&message);
      break;
    case CCROSSING_CREATE:
      instance = post->instance;
      if (is("crash-create") || (is("crash-later-creates") && starts > 0)) raise(SIGSEGV);
      if (is("hang-later-creates") && starts > 0) wait_for_the_end();
      if (is("stop-later-creates") && starts > 0) raise(SIGSTOP);
      break;
    case CCROSSING_SAVE: save(&message); break;
    default: break;
  }
  if (post->slot >= CCROSSING_SLOTS) return;
  struct CCrossing_answer answer = place(control, post->slot, &message);
  answer.verdict = status;
  if (post->operation == CCROSSING_SAVE && is("far-state")) answer.length = UINT32_MAX;
  if (post->operation == CCROSSING_LOAD && is("far-load")) answer.block = UINT32_MAX;
  publish(control, post, &answer);
}

/* ---- Callbacks ---- */

static void ask(uint16_t request, uint32_t of, struct message *message) {
  struct lane *control = &lanes[0];
  struct CCrossing_callback *to = &control->up->callbacks[0];
  uint64_t blocks = arena / CCROSSING_BLOCK;
  uint32_t block = (uint32_t)(blocks / 2), generation = atomic_load(&to->asked) + 1;
  if (message->length) memcpy(CCrossing_arena(control->up, block), message->bytes, message->length);
  to->request = request;
  to->instance = of;
  to->argument = CRB_LOG_ERROR;
  to->number = 7;
  to->block = is("callback-far") ? UINT32_MAX : block;
  to->length = (uint32_t)message->length;
  free(message->bytes);
  *message = (struct message){0};
  atomic_store(&to->asked, generation);
  ring(1);
  /* Without a limit: a host that stands still for seconds would take the answer of the hook before it looks at the callback. */
  const struct CCrossing_reply *reply = &control->down->replies[0];
  while (atomic_load(&reply->answered) != generation) nap(1);
}

/* A JSON object of so many bytes, an even number. */
static char *make_object(size_t length) {
  char *text = malloc(length);
  memset(text, '1', length);
  for (size_t index = 7; index < length - 3; index += 2) text[index] = ',';
  memcpy(text, "{\"a\":[", 6);
  memcpy(text + length - 2, "]}", 2);
  return text;
}

/* Asks for many checks of one text at once, and waits for none. */
static void *ask_for_checks(void *unused) {
  enum { LENGTH = 1 << 20 };
  struct lane *control = &lanes[0];
  char *text = make_object(LENGTH);
  struct message message = {0};
  add_bytes(&message, (struct CCrossing_record){.kind = CCROSSING_BODY}, NULL, 0, text, LENGTH);
  memcpy(CCrossing_arena(control->up, 0), message.bytes, message.length);
  for (int number = 0; number < CCROSSING_CALLBACKS; number++) {
    struct CCrossing_callback *to = &control->up->callbacks[number];
    to->request = CCROSSING_CHECK;
    to->argument = CRB_PART_VARIABLES;
    to->block = 0;
    to->length = (uint32_t)message.length;
    atomic_store(&to->asked, atomic_load(&to->asked) + 1);
  }
  ring(1);
  return unused;
}

static void start(void *(*body)(void *), void *user) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, user) != 0) abort();
}

static void ask_wrongly(void) {
  struct message message = {0};
  if (is("callback-kind")) ask(99, instance, &message);
  if (is("callback-record")) {
    add(&message, (struct CCrossing_record){.kind = CCROSSING_EMIT}, NULL, "?");
    ask(CCROSSING_LOG, instance, &message);
  }
  if (is("callback-cut")) {
    add(&message, (struct CCrossing_record){.kind = CCROSSING_LINE}, NULL, "a line");
    message.length -= 8;
    ask(CCROSSING_LOG, instance, &message);
  }
  if (is("callback-far")) ask(CCROSSING_LOG, instance, &message);
  if (is("callback-store")) {
    add(&message, (struct CCrossing_record){.kind = CCROSSING_KEY_TEXT}, NULL, "QUERY_ROOT");
    ask(CCROSSING_STORE, instance, &message);
  }
  if (begins("callback-fetch") || is("held-fetch")) {
    add(&message, (struct CCrossing_record){.kind = CCROSSING_REQUEST}, "GET", "http://127.0.0.1:9/");
    for (int count = 0; is("callback-fetch-headers") && count < 257; count++) {
      add(&message, (struct CCrossing_record){.kind = CCROSSING_FIELD}, "X", "y");
    }
    ask(CCROSSING_FETCH, instance, &message);
  }
  if (is("stranger")) {
    add(&message, (struct CCrossing_record){.kind = CCROSSING_LINE}, NULL, "a line of another entry");
    ask(CCROSSING_LOG, instance + 100000, &message);
    ask(CCROSSING_FETCH, instance + 100000, &message);
  }
  if (is("long-lines")) {
    enum { LENGTH = 1 << 20 };
    char *line = malloc(LENGTH);
    for (int index = 0; index < LENGTH; index++) line[index] = (char)index;
    for (int count = 0; count < 20; count++) {
      add_bytes(&message, (struct CCrossing_record){.kind = CCROSSING_LINE}, NULL, 0, line, LENGTH);
      ask(CCROSSING_LOG, instance, &message);
    }
    free(line);
  }
}

/* ---- Hooks ---- */

static void add_header(struct message *message, const char *name, size_t names, const char *value, size_t values) {
  add_bytes(message, (struct CCrossing_record){.kind = CCROSSING_HEADER}, name, names, value, values);
}

/* Stages what the worker's own code would have refused. */
static void stage_wrongly(struct message *message) {
  static char large[(64 << 10) + 1];
  memset(large, 'x', sizeof large);
  struct CCrossing_record field = {.kind = CCROSSING_FIELD_SET, .a = CRB_PART_VARIABLES};
  if (begins("cut-record-")) {
    add(message, (struct CCrossing_record){.kind = CCROSSING_HEADER}, "Name", "name");
    message->length = (size_t)atoi(turn + strlen("cut-record-"));
  }
  if (is("sum-of-lengths")) {
    add(message, (struct CCrossing_record){.kind = CCROSSING_HEADER}, "Name", "name");
    struct CCrossing_record *record = (void *)message->bytes;
    record->name = record->value = UINT32_MAX - 1;
  }
  if (is("operation-0")) add(message, (struct CCrossing_record){.kind = 0}, NULL, NULL);
  if (is("operation-31")) add(message, (struct CCrossing_record){.kind = 31}, NULL, NULL);
  if (is("operation-65535")) add(message, (struct CCrossing_record){.kind = UINT16_MAX}, NULL, NULL);
  if (is("header-cr")) add_header(message, "X-A", 3, "a\rb", 3);
  if (is("header-nul")) add_header(message, "X-A", 3, "a\0b", 3);
  if (is("header-no-name")) add_header(message, "", 0, "a", 1);
  if (is("header-long-name")) add_header(message, large, sizeof large, "a", 1);
  if (is("part-not-in-mutates")) add(message, (struct CCrossing_record){.kind = CCROSSING_FIELD_SET, .a = CRB_PART_DOCUMENT}, NULL, "{ a }");
  if (is("two-parts")) {
    field.a |= CRB_PART_HEADERS;
    add(message, field, NULL, "{}");
  }
  if (is("no-json")) add(message, field, NULL, "{\"a\": }");
  if (is("element-of-chunks")) add(message, (struct CCrossing_record){.kind = CCROSSING_EMIT, .a = CRB_EMIT_CHUNK}, NULL, "chunk");
  if (is("element-of-no-kind")) add(message, (struct CCrossing_record){.kind = CCROSSING_EMIT, .a = 77}, NULL, "?");
  for (int count = 0; is("65537-elements") && count < 65537; count++) {
    add(message, (struct CCrossing_record){.kind = CCROSSING_EMIT, .a = CRB_EMIT_RESULT}, NULL, "{}");
  }
  if (is("half-an-error")) add(message, (struct CCrossing_record){.kind = CCROSSING_ERROR_SET, .a = 1}, "domain", "message");
  if (is("half-a-head")) add(message, (struct CCrossing_record){.kind = CCROSSING_HEAD_SET, .a = 200, .number = 1ull << 60}, NULL, NULL);
  if (is("large-error")) {
    enum { LENGTH = 8 << 20 };
    char *text = malloc(LENGTH);
    memset(text, 'm', LENGTH);
    struct CCrossing_record failure = {.kind = CCROSSING_FAILURE, .b = CRB_ERROR_PLUGIN_FAULT};
    add_bytes(message, failure, text, LENGTH / 2, text, LENGTH);
    free(text);
  }
  if (is("large-variables")) {
    enum { LENGTH = (16 << 20) + 2 };
    char *text = make_object(LENGTH);
    add_bytes(message, field, NULL, 0, text, LENGTH);
    free(text);
  }
  if (is("unknown-key")) add(message, (struct CCrossing_record){.kind = CCROSSING_BAG_SET, .a = 4000000000u, .b = 1}, NULL, "a");
  if (is("retry-of-no-scope")) add(message, (struct CCrossing_record){.kind = CCROSSING_RETRY, .a = 99}, NULL, NULL);
}

static void *write_noise(void *user) {
  struct lane *lane = user;
  uint64_t *words = (void *)lane->up, seed = 88172645463325252ull + lane->number;
  for (; is("noise");) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    words[seed % ((CCROSSING_ARENA + CCROSSING_BLOCK) / sizeof *words)] = seed % 5 ? seed : seed % 1000;
    if (seed % 4096 == 0) ring(1);
  }
  return NULL;
}

static void make_noise(void) {
  for (uint64_t number = 0; number <= lane_count; number++) start(write_noise, &lanes[number]);
  wait_for_the_end();
}

static void name_running(struct lane *lane, const struct CCrossing_post *post, uint32_t slot) {
  atomic_store(&lane->up->running, (uint64_t)post->generation << 32 | (uint64_t)slot << 8 | (post->operation + 1u));
}

/* Names another operation of the same hook as running, again and again. */
static void *flip_running(void *user) {
  struct lane *lane = user;
  for (uint64_t word = atomic_load(&lane->up->running);; word ^= 2) {
    atomic_store(&lane->up->running, word);
    usleep(500);
  }
  return NULL;
}

static void flood(void) {
  static char lines[4096];
  for (size_t index = 0; index < sizeof lines; index++) lines[index] = index % 8 ? 'x' : '\n';
  for (int count = 0; count < 100; count++) {
    if (write(1, lines, sizeof lines) < 0) return;
  }
}

/* What breaks a rule beside the answer.  Some do not return. */
static void act(struct lane *lane, const struct CCrossing_post *post) {
  if (is("exit")) _exit(0);
  if (is("signal")) raise(SIGSEGV);
  if (is("stop")) raise(SIGSTOP);
  if (is("no-answer")) wait_for_the_end();
  if (is("stop-in-hook") || is("endless-hook") || is("flipping-hook")) {
    name_running(lane, post, post->slot);
    if (is("stop-in-hook")) raise(SIGSTOP);
    if (is("flipping-hook")) start(flip_running, lane);
    wait_for_the_end();
  }
  if (is("begun-beyond")) {
    atomic_store(&lane->up->begun, lane->begun + 5000);
    wait_for_the_end();
  }
  if (is("begun-back")) {
    nap(200); /* until the host has seen the count */
    atomic_store(&lane->up->begun, lane->begun - 1);
    wait_for_the_end();
  }
  if (is("running-far")) {
    name_running(lane, post, 300);
    wait_for_the_end();
  }
  if (is("running-later")) {
    atomic_store(&lane->up->running, (uint64_t)(post->generation + 1) << 32 | (uint64_t)post->slot << 8 | 1);
    wait_for_the_end();
  }
  if (is("slot-not-under-way")) {
    claim(lane, post->slot ^ 1, 5);
    wait_for_the_end();
  }
  if (is("later-generation")) {
    claim(lane, post->slot, post->generation + 1);
    wait_for_the_end();
  }
  if (is("older-generation") && lane->hooks == 3) {
    nap(200);
    claim(lane, post->slot, post->generation - 2);
    wait_for_the_end();
  }
  if (is("saved-unasked")) {
    claim(&lanes[0], 100, 3);
    wait_for_the_end();
  }
  if (is("pending-for-ever")) {
    if (CCrossing_pend(lane->down, lane->up, post)) ring(1);
    wait_for_the_end();
  }
  if (is("noise")) make_noise();
  for (; is("wake-ups");) ring(1000);
  if (is("closed-descriptors")) {
    for (int descriptor = 0; descriptor < 64; descriptor++) close(descriptor);
    nap(50); /* so that the host waits for a ring */
  }
  if (is("flood")) flood();
  if (is("late")) nap(20); /* so that the task of the call is suspended */
  if (is("checks") && lane->hooks == 1) start(ask_for_checks, NULL);
  ask_wrongly();
}

/* Answers the stages that follow in the crossing. */
static void answer_followers(struct lane *lane, const struct CCrossing_post *post) {
  const struct CCrossing_snapshot *snapshot = CCrossing_arena(lane->down, post->block);
  const uint8_t *at = (const uint8_t *)(snapshot + 1) + snapshot->parts * sizeof(struct CCrossing_part);
  at += (snapshot->fields + snapshot->event_fields) * sizeof(struct CCrossing_field) + snapshot->bags * sizeof(struct CCrossing_bag);
  const struct CCrossing_follower *followers = (const void *)at;
  for (uint32_t index = 0; index < snapshot->followers && !is("no-followers"); index++) {
    struct CCrossing_post of = {.slot = followers[index].slot, .generation = followers[index].generation};
    struct message message = {0};
    if (is("follower-cut")) {
      add(&message, (struct CCrossing_record){.kind = CCROSSING_HEADER}, "Name", "name");
      message.length -= 8;
    }
    struct CCrossing_answer answer = place(lane, of.slot, &message);
    if (is("follower-not-run")) answer.flags = CCROSSING_NOT_RUN;
    if (is("follower-far")) answer.block = UINT32_MAX;
    if (is("follower-twice")) publish(lane, &of, &answer);
    if (is("follower-later")) of.generation++;
    publish(lane, &of, &answer);
  }
}

static void run_hook(struct lane *lane, const struct CCrossing_post *post) {
  lane->hooks++;
  act(lane, post);
  if (post->length >= sizeof(struct CCrossing_snapshot)) answer_followers(lane, post);
  struct message message = {0};
  if (post->operation == CCROSSING_ON_REQUEST) stage_wrongly(&message);
  size_t message_length = message.length;
  struct CCrossing_answer answer = place(lane, post->slot, &message);
  answer.verdict = is("verdict-pending") ? CRB_PENDING : is("verdict-lost") ? INT16_MAX - 2 : is("verdict-odd") ? 77 : CRB_CONTINUE;
  if (is("65537-elements")) answer.verdict = CRB_RESPOND;
  if (is("large-error") && message_length) answer.verdict = CRB_FAIL;
  if (is("first-not-run")) answer.flags = CCROSSING_NOT_RUN;
  if (is("length-far")) answer.length = UINT32_MAX;
  if (is("block-far")) answer.block = UINT32_MAX, answer.length = 8;
  if (is("block-far-empty")) answer.block = UINT32_MAX;
  publish(lane, post, &answer);
  for (int count = 0; is("twice") && count < 1000; count++) {
    answer.length = (uint32_t)count << 20;
    answer.verdict = count;
    publish(lane, post, &answer);
  }
  if (is("before-asked")) {
    for (uint32_t slot = 0; slot < CCROSSING_SLOTS; slot++) {
      atomic_store(&lane->up->slots[slot].state, 2 * (slot == post->slot ? post->generation + 1 : 1) + 1);
    }
    wait_for_the_end();
  }
}

static void *run_lane(void *user) {
  struct lane *lane = user;
  if (is("untaken") && lane->number > 0) wait_for_the_end();
  for (struct CCrossing_post post;;) {
    atomic_store(&attention, 0);
    if (!CCrossing_next(lane->down, lane->up, lane->begun, UINT64_MAX, &attention, &lane->budget, &post)) continue;
    lane->begun++;
    if (lane->number == 0) handle(&post);
    else if (post.operation < CCROSSING_RELEASE && post.slot < CCROSSING_SLOTS) run_hook(lane, &post);
  }
}

/* ---- The start ---- */

static void read_turn(int plugin) {
  char end[sizeof turn] = {0};
  struct stat status;
  if (fstat(plugin, &status) != 0 || pread(plugin, end, sizeof end - 1, status.st_size - (off_t)sizeof end + 1) < 0) return;
  for (size_t index = 0; index + 5 < sizeof end; index++) {
    if (memcmp(end + index, "turn=", 5) != 0) continue;
    snprintf(turn, sizeof turn, "%.*s", (int)strcspn(end + index + 5, "\n"), end + index + 5);
  }
  /* All processes of a worker share the place in the file.  The host wrote the file, so it begins at the end. */
  off_t offset = lseek(plugin, 0, SEEK_CUR);
  starts = (long)(offset - status.st_size);
  lseek(plugin, offset + 1, SEEK_SET);
}

int main(int count, char **words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int index = 1; index + 1 < count; index += 2) {
    if (!strcmp(words[index], "--lanes")) lane_count = strtoull(words[index + 1], NULL, 10);
    if (!strcmp(words[index], "--arena")) arena = strtoull(words[index + 1], NULL, 10);
  }
  read_turn((int)(CCROSSING_FIRST_PAIR + 2 * (lane_count + 1)));
  if (is("silent") || (is("silent-later") && starts > 0)) wait_for_the_end();
  if (is("gone")) return 2;
  for (uint64_t number = 0; number <= lane_count; number++) {
    int descriptor = (int)(CCROSSING_FIRST_PAIR + 2 * number);
    lanes[number].number = (uint32_t)number;
    lanes[number].down = CCrossing_map(descriptor, arena, 1);
    lanes[number].up = CCrossing_map(descriptor + 1, arena, 0);
    if (!lanes[number].down || !lanes[number].up) return 2;
  }
  dprintf(CCROSSING_REPORT, "confined\n");
  for (uint64_t number = 1; number <= lane_count; number++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_lane, &lanes[number]) != 0) return 2;
  }
  atomic_store(&lanes[0].up->ready, 1);
  run_lane(&lanes[0]);
}
