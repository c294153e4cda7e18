/* Runs plugins in a worker without a host in Swift.  Started as
 *   driver test WORKER PROBE.so [STATE.so]             checks verdicts, edits, states and the life of calls
 *   driver bench WORKER PROBE.so DO IN-FLIGHT LANES COUNT    prints the time of a crossing, and finds lost wake-ups */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

static struct host host;
static int failures, checks;
static uint64_t calls;

static void expect(int line, const char *what, const char *found, const char *wanted) {
  checks++;
  if (found && !strcmp(found, wanted)) return;
  failures++;
  printf("driver.c:%d: %s: found \"%s\", expected \"%s\"\n", line, what, found ? found : "(nothing)", wanted);
}
static void expect_number(int line, const char *what, long long found, long long wanted) {
  char texts[2][32];
  snprintf(texts[0], sizeof texts[0], "%lld", found);
  snprintf(texts[1], sizeof texts[1], "%lld", wanted);
  expect(line, what, texts[0], texts[1]);
}
#define TEXT(what, found, wanted) expect(__LINE__, what, found, wanted)
#define NUMBER(what, found, wanted) expect_number(__LINE__, what, found, wanted)

enum { PROBE = 7, SERIAL, PERCALL, GRANTED };
static struct CCrossing_record record;

static struct result run(uint32_t lane, uint32_t instance, uint64_t call, const char *what) {
  struct message message;
  request(&message, what);
  return await_answer(&host, lane, post(&host, lane, CCROSSING_ON_REQUEST, 0, instance, call, message.bytes, message.length), 0);
}
/* What the probe says. */
static const char *said(uint32_t instance, uint64_t call, const char *what) {
  struct result result = run(1, instance, call, what);
  const char *value = value_of(&result, CCROSSING_HEADER, "X-R", &record);
  free(result.bytes);
  return value;
}
static struct result control(uint16_t operation, uint32_t instance, uint64_t argument, const struct message *message) {
  return await_answer(
      &host, 0, post(&host, 0, operation, 0, instance, argument, message ? message->bytes : NULL, message ? message->length : 0), 0);
}
static int32_t verdict(uint32_t instance, const char *what) {
  struct result result = run(1, instance, ++calls, what);
  free(result.bytes);
  return result.verdict;
}

static struct result create(uint32_t number, uint64_t interceptor, const char *entry, const char *config, int is_granted) {
  struct message message = {.length = 0};
  add(&message, CCROSSING_ENTRY, 0, 0, 3, NULL, entry);
  add(&message, CCROSSING_CONFIG, 0, 0, 0, NULL, config);
  add(&message, CCROSSING_ORIGIN, 0, 0, 0, NULL, "/plugins/probe.so");
  if (is_granted) add(&message, CCROSSING_GRANT, 0, 0, 0, NULL, "fetch");
  if (is_granted) add(&message, CCROSSING_GRANT, 0, 0, 0, NULL, "store");
  return control(CCROSSING_CREATE, number, interceptor, &message);
}

static void load(void) {
  struct result result = control(CCROSSING_LOAD, 0, 0, NULL);
  NUMBER("LOAD", result.verdict, CRB_OK);
  value_of(&result, CCROSSING_INTERCEPTOR, "org.carabiner.test.percall", &record);
  NUMBER("thread class", record.a, CRB_THREADS_PER_CALL);
  value_of(&result, CCROSSING_STAGE, NULL, &record);
  NUMBER("hooks", record.b, 1u << 31 | 1 << CCROSSING_RELEASE | 1 << CCROSSING_ON_REQUEST | 1 << CCROSSING_ON_RESULT);
  NUMBER("LOAD again", control(CCROSSING_LOAD, 0, 0, NULL).verdict, CRB_E_INVAL);
  NUMBER("CREATE", create(PROBE, 0, "probe", "{}", 1).verdict, CRB_OK);
  NUMBER("CREATE", create(SERIAL, 1, "serial", "{}", 0).verdict, CRB_OK);
  NUMBER("CREATE", create(PERCALL, 2, "percall", "{}", 0).verdict, CRB_OK);
  result = create(99, 0, "wrong", "{1}", 0);
  NUMBER("CREATE with a wrong configuration", result.verdict, CRB_E_INVAL);
  TEXT("its reason", value_of(&result, CCROSSING_FAILURE, "create", &record), "the probe takes no configuration");
  NUMBER("hook of no instance", verdict(50, "continue"), CRB_FAIL);
}

/* The worker gets these files.  It can cut neither of them short, nor write to that of the host. */
static void check_memory(void) {
  for (int is_down = 0; is_down <= 1; is_down++) {
    void *map;
    int file = CCrossing_make(1 << 20, is_down, &map);
    /* 0x10 is F_SEAL_FUTURE_WRITE.  Newer kernels add F_SEAL_EXEC. */
    NUMBER("seals", fcntl(file, F_GET_SEALS) & 0x1F, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (is_down ? 0x10 : 0));
    NUMBER("cut short", ftruncate(file, 0), -1);
    NUMBER("grown", ftruncate(file, 1 << 30), -1);
    NUMBER("a hole", fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), is_down ? -1 : 0);
    NUMBER("write()", pwrite(file, "x", 1, 0), is_down ? -1 : 1);
    NUMBER("another map", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED, is_down);
    CCrossing_unmap(map, 1 << 20);
    close(file);
  }
}

static void check_hooks(void) {
  NUMBER("continue", verdict(PROBE, "continue"), CRB_CONTINUE);
  NUMBER("an odd verdict", verdict(PROBE, "odd"), 77);
  static const struct { const char *mode, *fault; } broken[] = {
      {"nothing", "PENDING without a token from suspend()"},
      {"wait-pending", "resume() with PENDING"},
      {"wait-fault", "a token was taken with suspend() but the hook answered without PENDING"},
  };
  struct result result;
  for (unsigned mode = 0; mode < sizeof broken / sizeof *broken; mode++) {
    result = run(1, PROBE, ++calls, broken[mode].mode);
    NUMBER(broken[mode].mode, result.verdict, CRB_FAIL);
    TEXT("its fault", value_of(&result, CCROSSING_FAILURE, NULL, &record), broken[mode].fault);
    NUMBER("its flags", record.b, CRB_ERROR_PLUGIN_FAULT);
  }
  TEXT("facts", said(PROBE, ++calls, "facts"), "42 1073741824 1 2 1 0");
  TEXT("headers", said(PROBE, ++calls, "see-headers"), "0 -1 0 0 0 3 0 2");
  TEXT("document", said(PROBE, ++calls, "see-document"), "0 { hero }");
  TEXT("fields", said(PROBE, ++calls, "see-fields"), "-1 0 -1 -5 0 {\"a\":1} 4");
  TEXT("baggage", said(PROBE, ++calls, "see-bag"), "1 0 -8 0 0 aurora");
  result = run(1, PROBE, ++calls, "small");
  NUMBER("elements", result.verdict, CRB_RESPOND);
  NUMBER("their bytes", (long long)strlen(value_of(&result, CCROSSING_EMIT, NULL, &record)), 100);
  result = run(1, PROBE, ++calls, "fail");
  TEXT("an error", value_of(&result, CCROSSING_ERROR_SET, NULL, &record), "refused");
  NUMBER("its code", record.a, 7);
  value_of(&result, CCROSSING_ERROR_MORE, NULL, &record);
  NUMBER("its HTTP status", record.a, 403);
  result = run(1, PROBE, ++calls, "log");
  TEXT("a line", value_of(&result, CCROSSING_LOG_LINE, NULL, &record), "a line");
  result = run(1, PROBE, ++calls, "large");
  NUMBER("no room", result.verdict, CRB_FAIL);
  value_of(&result, CCROSSING_FAILURE, NULL, &record);
  NUMBER("its flags", record.b, CRB_ERROR_LIMIT);
  for (int turn = 0; turn < 20; turn++) NUMBER("half of the arena", verdict(PROBE, "half"), CRB_RESPOND);
}

static void check_calls(void) {
  uint64_t call = ++calls;
  struct result result = run(1, PROBE, call, "state");
  NUMBER("kept", result.is_kept, CCROSSING_KEPT);
  struct message message;
  for (int lane = 1; lane <= 2; lane++) {
    show_result(&message, "{\"data\":1}");
    struct result back = await_answer(&host, (uint32_t)lane, post(&host, (uint32_t)lane, CCROSSING_ON_RESULT, 0, PROBE, call, message.bytes, message.length), 0);
    TEXT("on_result", value_of(&back, CCROSSING_EMIT, NULL, &record), "1 5 {\"data\":1} -5");
    NUMBER("kept", back.is_kept, CCROSSING_KEPT);
  }
  post_without_slot(&host, 0, CCROSSING_CANCEL, PROBE, call, 0);
  post_without_slot(&host, 1, CCROSSING_RELEASE, PROBE, call, 0);
  usleep(20000);
  TEXT("creates, destroys, releases, cancels", said(PROBE, ++calls, "counts"), "3 0 1 1");
  NUMBER("not kept", run(1, PROBE, ++calls, "continue").is_kept, 0);
  NUMBER("scratch", run(1, PROBE, call = ++calls, "scratch").is_kept, CCROSSING_KEPT);
  post_without_slot(&host, 1, CCROSSING_RELEASE, PROBE, call, 0);
  NUMBER("per call", run(1, PERCALL, call = ++calls, "continue").is_kept, CCROSSING_KEPT);
  NUMBER("per call", run(2, PERCALL, call, "continue").is_kept, CCROSSING_KEPT);
  post_without_slot(&host, 1, CCROSSING_RELEASE, PERCALL, call, 0);
  usleep(20000);
  TEXT("creates, destroys, releases, cancels", said(PROBE, ++calls, "counts"), "4 1 1 1");
  for (int turn = 0; turn < 1000; turn++) {
    uint64_t one = ++calls;
    struct result kept = run(1, PROBE, one, "state");
    free(kept.bytes);
    post_without_slot(&host, 0, CCROSSING_CANCEL, PROBE, one, 0);
    post_without_slot(&host, 1, CCROSSING_RELEASE, PROBE, one, 0);
  }
  usleep(50000);
  TEXT("creates, destroys, releases, cancels", said(PROBE, ++calls, "counts"), "4 1 1001 1001");
}

static void check_waiting(void) {
  struct result result = run(1, PROBE, ++calls, "wait-now");
  TEXT("resumed before it returned", value_of(&result, CCROSSING_HEADER, "X-R", &record), "-4");
  NUMBER("no message that it is pending", result.was_pending, 0);
  result = run(1, PROBE, ++calls, "wait-thread");
  NUMBER("resumed by a thread", result.verdict, CRB_CONTINUE);
  result = run(1, PROBE, ++calls, "wait-timer");
  NUMBER("resumed by a timer", result.verdict, CRB_CONTINUE);
  struct message message;
  request(&message, "wait-late");
  uint64_t call = ++calls;
  uint32_t slot = post(&host, 1, CCROSSING_ON_REQUEST, 0, PROBE, call, message.bytes, message.length);
  NUMBER("pending", await_answer(&host, 1, slot, 1).was_pending, 1);
  TEXT("resume", said(PROBE, ++calls, "resume-late"), "0");
  NUMBER("its verdict", await_answer(&host, 1, slot, 0).verdict, CRB_CONTINUE);
  TEXT("resume again", said(PROBE, ++calls, "resume-late"), "-4");
  TEXT("a stale call", said(PROBE, ++calls, "stale"), "-4");
  for (int isExplicit = 1; isExplicit >= 0; isExplicit--) {
    call = ++calls;
    slot = post(&host, 2, CCROSSING_ON_REQUEST, 0, PROBE, call, message.bytes, message.length);
    await_answer(&host, 2, slot, 1);
    if (isExplicit) post_without_slot(&host, 0, CCROSSING_REVOKE, PROBE, call, host.pairs[2].slots[slot].generation);
    NUMBER("a hook after a revoked one", run(1, PROBE, call, "continue").verdict, CRB_CONTINUE);
    usleep(10000);
    TEXT("resume a revoked token", said(PROBE, ++calls, "resume-late"), "-4");
    post_without_slot(&host, 1, CCROSSING_RELEASE, PROBE, call, 0);
  }
  call = ++calls;
  slot = post(&host, 1, CCROSSING_ON_REQUEST, 0, PROBE, call, message.bytes, message.length);
  await_answer(&host, 1, slot, 1);
  post_without_slot(&host, 0, CCROSSING_REVOKE, PROBE, call, 12345);
  post_without_slot(&host, 0, CCROSSING_CANCEL, PROBE, call, 0);
  usleep(20000);
  TEXT("resume after an old REVOKE", said(PROBE, ++calls, "resume-late"), "0");
  NUMBER("its verdict", await_answer(&host, 1, slot, 0).verdict, CRB_CONTINUE);
  NUMBER("serial", verdict(SERIAL, "wait-thread"), CRB_CONTINUE);
  request(&message, "until-cancelled");
  slot = post(&host, 2, CCROSSING_ON_REQUEST, 0, PROBE, call = ++calls, message.bytes, message.length);
  while (!CCrossing_running(host.pairs[2].up)) usleep(100);
  post_without_slot(&host, 0, CCROSSING_CANCEL, PROBE, call, 0);
  result = await_answer(&host, 2, slot, 0);
  TEXT("cancelled while its hook runs", value_of(&result, CCROSSING_HEADER, "X-R", &record), "1 1");
  post_without_slot(&host, 2, CCROSSING_RELEASE, PROBE, call, 0);
}

static void check_services(void) {
  struct message message;
  for (int turn = 0; turn < 2; turn++) {
    request(&message, turn ? "use-store" : "use-fetch");
    uint32_t slot = post(&host, 1, CCROSSING_ON_REQUEST, 0, PROBE, ++calls, message.bytes, message.length);
    await_answer(&host, 1, slot, 1);
    struct message done = {.length = 0};
    if (turn) {
      add(&done, CCROSSING_STORE_ANSWER, 0, 0, 12, NULL, "{}");
    } else {
      add(&done, CCROSSING_RESPONSE, 200, 11, 0, NULL, "http://example.org/");
      add(&done, CCROSSING_FIELD, 0, 0, 0, "A", "b");
      add(&done, CCROSSING_BODY, 0, 0, 0, NULL, "body");
    }
    struct result posted = control(turn ? CCROSSING_STORED : CCROSSING_FETCHED, 0, turn ? host.store : host.fetch, &done);
    NUMBER("done", posted.verdict, CRB_OK);
    struct result back = await_answer(&host, 1, slot, 0);
    TEXT("what came", value_of(&back, CCROSSING_HEADER, "X-R", &record), turn ? "12" : "200 1 body");
  }
}

/* The second plugin, of Tests/Fixtures/Plugins/state.c: its count goes from one instance to the other. */
static void check_states(void) {
  enum { OLD = 20, NEW, STATE_PLUGIN = 1 << 16 };
  struct result result = control(CCROSSING_LOAD, 0, 1, NULL);
  value_of(&result, CCROSSING_INTERCEPTOR, "org.carabiner.test.state", &record);
  NUMBER("it has a state", record.b, CCROSSING_HAS_STATE);
  NUMBER("CREATE", create(OLD, STATE_PLUGIN, "state", "{}", 0).verdict, CRB_OK);
  NUMBER("CREATE", create(NEW, STATE_PLUGIN, "state", "{}", 0).verdict, CRB_OK);
  NUMBER("a hook", verdict(OLD, ""), CRB_RESPOND);
  struct message state = {.length = 0};
  result = control(CCROSSING_SAVE, OLD, 0, NULL);
  NUMBER("SAVE", result.verdict, CRB_OK);
  value_of(&result, CCROSSING_STATE, NULL, &record);
  NUMBER("its version", (long long)record.number, 1);
  NUMBER("ADOPT without a state", control(CCROSSING_ADOPT, NEW, 0, NULL).verdict, CRB_E_INVAL);
  memcpy(state.bytes, result.bytes, state.length = result.length);
  NUMBER("ADOPT", control(CCROSSING_ADOPT, NEW, 0, &state).verdict, CRB_OK);
  result = run(2, NEW, ++calls, "");
  TEXT("the next count", value_of(&result, CCROSSING_EMIT, NULL, &record), "{\"data\":{\"count\":2,\"name\":\"one\"}}");
  struct message newer = {.length = 0};
  add(&newer, CCROSSING_STATE, 0, 0, 9, NULL, "?");
  result = control(CCROSSING_ADOPT, NEW, 0, &newer);
  TEXT("a newer state", value_of(&result, CCROSSING_FAILURE, "adopt", &record), "a newer version wrote this state");
  NUMBER("its code", (long long)record.number, 42);
  NUMBER("CREATE", create(OLD + 2, STATE_PLUGIN, "state", "{\"mode\": \"large\"}", 0).verdict, CRB_OK);
  result = control(CCROSSING_SAVE, OLD + 2, 0, NULL);
  NUMBER("a state that is too large", result.verdict, CRB_E_LIMIT);
  NUMBER("CREATE", create(OLD + 3, STATE_PLUGIN, "state", "{\"mode\": \"garbage\"}", 0).verdict, CRB_OK);
  NUMBER("no buffer", control(CCROSSING_SAVE, OLD + 3, 0, NULL).verdict, CRB_E_STALE);
  NUMBER("DESTROY", control(CCROSSING_DESTROY, OLD, 0, NULL).verdict, CRB_OK);
}

static int end(void) {
  struct result result = control(CCROSSING_SAVE, PROBE, 0, NULL);
  NUMBER("no state", result.verdict + (int)result.length, 0);
  NUMBER("DRAIN", control(CCROSSING_DRAIN, SERIAL, 0, NULL).verdict, CRB_OK);
  NUMBER("DESTROY", control(CCROSSING_DESTROY, SERIAL, 0, NULL).verdict, CRB_OK);
  NUMBER("DESTROY again", control(CCROSSING_DESTROY, SERIAL, 0, NULL).verdict, CRB_E_NOTFOUND);
  int status = stop(&host);
  NUMBER("the end", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), 0);
  NUMBER("deinit() ran", host.deinits, 1);
  printf("%d checks, %d failed\n", checks, failures);
  return failures > 0;
}

/* ---- Measuring ---- */

static long share, in_flight;
static const char *what;

/* Keeps hooks under way in one lane. */
static void *drive(void *user) {
  uint32_t lane = (uint32_t)(uintptr_t)user, slots[CCROSSING_SLOTS];
  uint64_t call = (uint64_t)lane << 40;
  struct message message;
  request(&message, what);
  for (long index = 0; index < share + in_flight; index++) {
    uint32_t *slot = &slots[index % in_flight];
    if (index >= in_flight) free(await_answer(&host, lane, *slot, 0).bytes);
    if (index < share) *slot = post(&host, lane, CCROSSING_ON_REQUEST, 0, PROBE, ++call, message.bytes, message.length);
  }
  return NULL;
}

static int bench(char **words) {
  what = words[4];
  in_flight = atol(words[5]);
  uint32_t lanes = (uint32_t)atoi(words[6]);
  share = atol(words[7]) / lanes;
  start(&host, words[2], lanes, &words[3], 1);
  control(CCROSSING_LOAD, 0, 0, NULL);
  create(PROBE, 0, "probe", "{}", 0);
  pthread_t threads[MOST_PAIRS];
  uint64_t began = CCrossing_now();
  for (uint32_t lane = 1; lane <= lanes; lane++) pthread_create(&threads[lane], NULL, drive, (void *)(uintptr_t)lane);
  for (uint32_t lane = 1; lane <= lanes; lane++) pthread_join(threads[lane], NULL);
  double us = (double)(CCrossing_now() - began) / 1e3 / ((double)share * lanes);
  printf("%s, %ld in flight, %u lanes: %ld crossings, %.2f us each\n", what, in_flight, lanes, share * lanes, us);
  return stop(&host) != 0;
}

int main(int count, char **words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count == 8 && !strcmp(words[1], "bench")) return bench(words);
  if ((count != 4 && count != 5) || strcmp(words[1], "test")) return 2;
  start(&host, words[2], 2, &words[3], (uint32_t)count - 3);
  load();
  check_memory();
  check_hooks();
  check_calls();
  check_waiting();
  check_services();
  if (count == 5) check_states();
  return end();
}
