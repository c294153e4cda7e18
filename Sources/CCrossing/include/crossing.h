/* The memory that a host shares with a worker, and the messages in it.
 *
 * Each lane, and the control thread, has a pair of sealed memory files.  The host writes `down`, which the worker maps read-only; the
 * worker writes `up`, which the host maps read-only.  There is no lock in them.
 *
 * A POST goes down: the host takes a slot, writes a message to the arena of `down`, and adds a post to the ring.  The ANSWER comes in
 * the slot of `up`; its message is in the arena of `up`.  While a hook is pending, the slot says so.  Posts without a slot have
 * neither a message nor an answer.
 * A CALLBACK goes up, over the control pair only: the worker asks for something that only the host can do, and waits for its status.
 * The BELL, an event counter, wakes the reader of the host: for answers that it asked to be announced, for pending hooks, callbacks,
 * and nothing else.
 *
 * The host does not trust `up`: it copies once, and checks the copy.  The worker trusts `down`. */
#ifndef CCROSSING_H
#define CCROSSING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
  CCROSSING_MAGIC = 0x43425257,
  CCROSSING_VERSION = 2,
  CCROSSING_SLOTS = 256,
  CCROSSING_RING = 1024,
  CCROSSING_CALLBACKS = 64,
  CCROSSING_MOST_LANES = 16,
  CCROSSING_MOST_PLUGINS = 16,
  /* Space in an arena is given out in blocks of this size. */
  CCROSSING_BLOCK = 16 << 10
};
#define CCROSSING_NO_SLOT UINT32_MAX
/* The length of an absent text. */
#define CCROSSING_ABSENT UINT32_MAX

/* The descriptors of a worker, beside 0, 1 and 2.  The pair of lane n has the numbers FIRST_PAIR + 2n (down) and FIRST_PAIR + 2n + 1 (up);
 * pair 0 is that of the control thread, lanes are the pairs 1, 2 ...  After the last pair follow the files of plugins. */
enum { CCROSSING_REPORT = 3, CCROSSING_BELL = 4, CCROSSING_FIRST_PAIR = 5 };

/* ---- Messages in the ring ---- */

/* Operations of a post: the hooks of a lane, as CarabinerABI numbers them, then those of the control thread. */
enum CCrossing_operation {
  CCROSSING_ON_REQUEST = 0,
  CCROSSING_ON_RESULT,
  CCROSSING_ON_HEAD,
  CCROSSING_ON_CHUNK,
  CCROSSING_ON_READ,
  CCROSSING_ON_WRITE,
  CCROSSING_ON_ERROR,
  CCROSSING_ON_END,
  CCROSSING_RELEASE, /* of a lane, without a slot: the host forgets the call */

  CCROSSING_LOAD = 32, /* argument: number of the plugin file.  Records, all optional: ORIGIN, and LINE (name and version of the host).
                          With the record WATCHED, the plugin is that of a laboratory: see CCrossing_function.
                          Answer: records INTERCEPTOR and what follows it, or FAILURE */
  CCROSSING_VALIDATE,  /* argument: number of the interceptor in its plugin (plugin << 16 | interceptor).  Records CONFIG.  Answer: FAILURE or nothing */
  CCROSSING_CREATE,    /* the same argument; instance: its number.  Records ENTRY, CONFIG, ORIGIN, GRANT...  Validates first, as in
                          process.  Answer: FAILURE or nothing */
  CCROSSING_SAVE,      /* instance.  Answer: STATE (number: version), nothing, or FAILURE */
  CCROSSING_ADOPT,     /* instance.  Record STATE.  Answer: FAILURE or nothing */
  CCROSSING_DRAIN,     /* instance */
  CCROSSING_DESTROY,   /* instance */
  CCROSSING_CANCEL,    /* call, without a slot: it is cancelled, and its on_cancel runs.  kind and instance as of a hook */
  CCROSSING_REVOKE,    /* call, without a slot: its token is stale.  generation: of the post of the pending hook; 0: of any.  The worker
                          then keeps the call until it is released, as if it had answered CCROSSING_KEPT */
  CCROSSING_FETCHED,   /* call: the number of the fetch.  Records RESPONSE, FIELD... and BODY; or ERROR_SET and ERROR_MORE */
  CCROSSING_STORED,    /* call: the number of the operation.  Record STORE_ANSWER; or ERROR_SET and ERROR_MORE */
  CCROSSING_REFUSALS,  /* Answer: REFUSAL... of the system calls that were refused so far */
  CCROSSING_SHUTDOWN   /* destroys all instances, calls deinit(), and ends the process with status 0 */
};

struct CCrossing_post {
  uint16_t operation;
  uint16_t kind; /* of a hook: 0 graphql, 1 cache, 2 http, 3 parsing */
  uint32_t slot;
  uint32_t generation; /* of the slot, 1 to 2^31 - 1, another one for each post */
  uint32_t instance;
  uint64_t call;       /* the call of a hook; of a control operation its argument */
  uint32_t block;      /* the first block of the message in the arena of `down` */
  uint32_t length;     /* of the message; for operations without one, 0 */
};

/* ---- The pages ---- */

struct CCrossing_down_slot {
  _Alignas(64) _Atomic uint32_t announce; /* the generation whose answer rings the bell; 0: none */
  _Atomic uint32_t sleeps;                /* the generation for whose answer a thread sleeps in a futex; 0: none */
  _Atomic uint32_t taken;                 /* the generation whose answer the host has copied: its space is free.  Without it, the space is
                                             free at the next post for the slot */
};

/* The host's reply to a callback. */
struct CCrossing_reply {
  _Alignas(64) _Atomic uint32_t answered; /* the generation of the callback; the worker sleeps on it */
  int32_t status;
};

struct CCrossing_down {
  uint32_t magic, version, lanes, plugins;
  uint64_t arena;              /* bytes */
  _Atomic uint32_t levels;     /* of logs: one bit for each level that is enabled, for all plugins of the worker */
  _Alignas(64) _Atomic uint32_t tail; /* number of posts; the lane sleeps on it */
  _Atomic uint32_t processor;         /* on which the host last posted */
  _Atomic uint32_t isCrowded;         /* whether the host has more calls under way than processors: then no side spins */
  _Alignas(64) struct CCrossing_post ring[CCROSSING_RING];
  struct CCrossing_down_slot slots[CCROSSING_SLOTS];
  struct CCrossing_reply replies[CCROSSING_CALLBACKS];
};

/* Flags of an answer. */
enum {
  CCROSSING_KEPT = 1,   /* the worker keeps memory for the call until it is released */
  CCROSSING_NOT_RUN = 2 /* of a follower: its hook was not called, as a stage before it did not let the message pass */
};

struct CCrossing_up_slot {
  _Alignas(64) _Atomic uint32_t state;    /* written last; the host sleeps on it.  2 * generation: its hook is pending.  2 * generation + 1: answered */
  int32_t verdict;                        /* of a hook; of a control operation its status */
  uint32_t flags;                         /* CCROSSING_KEPT, CCROSSING_NOT_RUN */
  uint32_t block, length;                 /* the message in the arena of `up` */
  uint64_t nanoseconds;                   /* the time of the hook */
  uint64_t began;                         /* when its lane took the post, CLOCK_MONOTONIC; 0: unknown */
};

enum CCrossing_request {
  CCROSSING_CHECK = 1, /* argument: a part.  Record BODY.  Whether its bytes may be that part: the status of field_set() */
  CCROSSING_FETCH,     /* instance; number: of the fetch.  Records REQUEST, FIELD..., BODY if there is one.  The status of start() */
  CCROSSING_STORE,     /* instance; number: of the operation; argument: CCrossing_store.  Records KEY... or BODY */
  CCROSSING_LOG,       /* instance; argument: level; number: request id, 0 for none.  Record LINE */
  CCROSSING_KEY,       /* argument: a baggage key, numbered by the worker from 1.  Record LINE: its name.  From then on snapshots have its value */
  CCROSSING_USE        /* of a plugin that is watched.  argument: CCrossing_function; number: its call or token; instance: 1 if its thread
                          runs a hook of that call */
};

/* The next act of a plugin that is watched.  A laboratory (`carabiner conform`) judges each function of the host that the plugin calls,
 * before the worker runs it.  If the reply is negative, the worker does not run it, and the plugin gets the reply. */
enum CCrossing_function {
  CCROSSING_USE_QUERY = 1,    /* Record LINE: the id.  Each function that has no comment has no record */
  CCROSSING_USE_BUF_ALLOC,
  CCROSSING_USE_BUF_ADOPT,
  CCROSSING_USE_BUF_SLICE,
  CCROSSING_USE_BUF_RETAIN,
  CCROSSING_USE_BUF_RELEASE,
  CCROSSING_USE_BUF_VIEW,
  CCROSSING_USE_SCRATCH,      /* Record NUMBERS: number = bytes, a = alignment */
  CCROSSING_USE_SUSPEND,
  CCROSSING_USE_TOKEN,        /* not a function: the token of suspend().  Record NUMBERS: number */
  CCROSSING_USE_RESUME,       /* number: the token.  Record NUMBERS: a = verdict */
  CCROSSING_USE_CANCELLED,    /* The reply is the result */
  CCROSSING_USE_DEADLINE,
  CCROSSING_USE_ATTEMPT,
  CCROSSING_USE_OPERATION_TYPE,
  CCROSSING_USE_REQUEST_ID,
  CCROSSING_USE_EMIT,         /* Record EMIT; value: absent if the buffer is stale */
  CCROSSING_USE_SET_ERROR,    /* Records ERROR_SET and ERROR_MORE; none if the error is NULL */
  CCROSSING_USE_SET_RETRY,    /* Record RETRY */
  CCROSSING_USE_SET_HEAD,     /* Records HEAD_SET and HEAD_FIELD...; none if the head is NULL */
  CCROSSING_USE_HEADERS,      /* Record NUMBERS: a = 1 if the places for the results are not NULL */
  CCROSSING_USE_HEADER_GET,   /* Record HEADER: a = 1 if the place for the result is not NULL, name */
  CCROSSING_USE_HEADER_SET,   /* Record HEADER */
  CCROSSING_USE_FIELD_GET,    /* Record FIELD_SET: a = part, b = 1 if the place for the result is not NULL */
  CCROSSING_USE_FIELD_SET,    /* Record FIELD_SET: b = 1 if there is a buffer; value: absent if it is stale */
  CCROSSING_USE_KEY,          /* Record LINE: the name */
  CCROSSING_USE_BAG_GET,      /* Record BAG_SET: a = key, b = 1 if the place for the result is not NULL */
  CCROSSING_USE_BAG_SET,      /* Record BAG_SET; none if the value is NULL */
  CCROSSING_USE_LOG,          /* Record LOG_LINE */
  CCROSSING_USE_TIMER_ARM,
  CCROSSING_USE_TIMER_CANCEL,
  CCROSSING_USE_WITHOUT_DONE, /* a service without done().  Record NUMBERS: a = 0 for fetch, else CCrossing_store + 1 */
  CCROSSING_USE_RETURNED      /* not a function: a hook returned.  Record NUMBERS: a = its verdict, b = 1 if the call has a state */
};

enum CCrossing_store { CCROSSING_STORE_LOAD = 0, CCROSSING_STORE_PUBLISH, CCROSSING_STORE_REMOVE, CCROSSING_STORE_REMOVE_MATCHING };

struct CCrossing_callback {
  _Alignas(64) _Atomic uint32_t asked; /* the generation, written last.  It is free if down.replies[n].answered is the same */
  uint16_t request;
  uint16_t zero;
  uint32_t instance;
  uint32_t argument;
  uint64_t number;
  uint32_t block, length;
};

/* System calls that the worker was refused, by number.  The last place counts all other numbers.  Of the control pair. */
enum { CCROSSING_CALL_NUMBERS = 1024 };
struct CCrossing_refusals {
  _Alignas(64) _Atomic uint32_t kinds;                   /* how many places are not zero, written last */
  _Atomic uint32_t counts[CCROSSING_CALL_NUMBERS + 1];
  _Atomic uint64_t addresses[CCROSSING_CALL_NUMBERS + 1]; /* of the instruction, the first time */
};

/* The lines that the hooks of a post wrote to the log so far, each with a line feed.  The host reads them if the process ends before the
 * answer. */
enum { CCROSSING_LINES = 4096 };
struct CCrossing_lines {
  _Alignas(64) _Atomic uint32_t generation; /* of the post */
  _Atomic uint32_t length;
  uint8_t bytes[CCROSSING_LINES];
};

struct CCrossing_up {
  _Atomic uint32_t ready;             /* of the control pair: 1 once the worker is confined and takes posts */
  _Alignas(64) _Atomic uint32_t sleeps;  /* whether the lane sleeps on down.tail */
  _Atomic uint32_t processor;         /* on which the lane last ran */
  _Atomic uint32_t begun;             /* number of posts taken from the ring */
  _Alignas(64) _Atomic uint64_t running; /* generation << 32 | slot << 8 | operation + 1 of the hook that runs; 0: none */
  _Alignas(64) struct CCrossing_up_slot slots[CCROSSING_SLOTS];
  struct CCrossing_callback callbacks[CCROSSING_CALLBACKS];
  struct CCrossing_lines lines;
  struct CCrossing_refusals refusals;
};

/* The arena follows at this offset, in both files. */
enum { CCROSSING_ARENA = 128 << 10 };
_Static_assert(sizeof(struct CCrossing_down) <= CCROSSING_ARENA, "the arena follows the pages");
_Static_assert(sizeof(struct CCrossing_up) <= CCROSSING_ARENA, "the arena follows the pages");
_Static_assert(sizeof(struct CCrossing_post) == 32, "a post has no padding");

/* ---- The message of a hook: a snapshot ---- */

/* A text in a message: its place, counted from the beginning of the message, and its length. */
struct CCrossing_text {
  uint32_t place, length;
};

/* A part of the message: its status, and its bytes if that is CRB_OK. */
struct CCrossing_part {
  uint32_t part;
  int32_t status;
  struct CCrossing_text bytes;
};

struct CCrossing_field {
  struct CCrossing_text name, value;
  uint32_t flags, zero;
};

/* A visible value of the baggage. */
enum { CCROSSING_BAG_INNER = 256 /* added to the type: the value is not of CRB_SCOPE_CALL, so bag_set() in that scope does not hide it */ };
struct CCrossing_bag {
  uint32_t key, type;
  uint64_t bits; /* of a number */
  struct CCrossing_text bytes;
};

enum { CCROSSING_NO_EVENT = 0, CCROSSING_RESULT, CCROSSING_HEAD, CCROSSING_CHUNK, CCROSSING_ERROR };

/* A stage after the one that the post names, in the same crossing: its slot, as in a post without a message of its own.  The worker calls
 * its hook if each stage before it answered CONTINUE and staged nothing but headers, baggage and lines of its log.  Each follower has an
 * answer.  The answer of the first stage may come last, with the only wake-up. */
struct CCrossing_follower {
  uint32_t slot, generation;
  uint32_t instance, zero;
  uint64_t call;
};

/* A snapshot.  Then follow the parts, the fields, the baggage, the fields of the event's head, the followers, and the bytes of all texts. */
struct CCrossing_snapshot {
  uint64_t request_id, deadline_ns;
  uint32_t attempt, operation_type;
  int32_t headers_status; /* of headers() */
  uint32_t parts, fields, bags;
  uint32_t event, event_fields;
  /* The event, by its kind:
   * result: a = flags, c = http_status, number = seq, texts = json, data, errors, extensions, path, label (in this order, as in crb_result)
   * head:   a = status, b = http_version, c = attempt, texts[0] = url
   * chunk:  a = flags, number = seq, texts[0] = bytes
   * error:  a = code, b = flags, c = http_status, number = retry_after_ns, texts = domain, message, detail_json, origin */
  uint32_t a, b, c;
  uint32_t followers;
  uint64_t number;
  struct CCrossing_text texts[6];
};

/* ---- All other messages: records ---- */

enum CCrossing_record_kind {
  /* The edits of a hook, in the answer, in the order in which it staged them. */
  CCROSSING_HEADER = 1, /* a = flags of header_set, name, value (absent: remove) */
  CCROSSING_FIELD_SET,  /* a = part, value (absent: remove) */
  CCROSSING_EMIT,       /* a = kind, b = flags, value */
  CCROSSING_ERROR_SET,  /* a = code, b = flags, number = retry_after_ns, name = domain, value = message; then ERROR_MORE */
  CCROSSING_ERROR_MORE, /* a = http_status, name = origin, value = detail_json */
  CCROSSING_RETRY,      /* a = scope, number = delay_ns */
  CCROSSING_HEAD_SET,   /* a = status, b = http_version, number = count of HEAD_FIELD that follow */
  CCROSSING_HEAD_FIELD, /* a = flags, name, value */
  CCROSSING_BAG_SET,    /* a = key, b = scope << 8 | type, number = bits, value */
  CCROSSING_LOG_LINE,   /* a = level, b = 1 if the plugin named no call, value */

  /* The description of a plugin. */
  CCROSSING_INTERCEPTOR = 32, /* a = thread class, b = CCROSSING_HAS_*, name = id, value = version; then the other ones of it */
  CCROSSING_TEXT,             /* a = CCROSSING_TEXT_*, value */
  CCROSSING_STAGE,            /* a = kind, b = bits of the hooks that are not NULL (1 << operation; 1 << CCROSSING_RELEASE; bit 31: on_cancel),
                                 number = needs << 32 | mutates */

  /* Of control operations and callbacks. */
  CCROSSING_FAILURE = 64, /* a = status, b = CRB_ERROR_* (PLUGIN_FAULT: the plugin broke a rule), number = code of the plugin, name = the
                             function or step that failed, value = the text of the plugin or of the worker; absent: it gave none.
                             In the answer of a hook, with CRB_FAIL: the hook failed without its plugin's wish, and other records may
                             precede it */
  CCROSSING_CONFIG,       /* value */
  CCROSSING_ENTRY,        /* value = name of the entry, number = generation of the manifest */
  CCROSSING_ORIGIN,       /* value, number = bytes of buffers that the instance may hold; 0: the default of the manifest */
  CCROSSING_GRANT,        /* value = fetch or store */
  CCROSSING_STATE,        /* number = version, value */
  CCROSSING_REQUEST,      /* a = flags, number = timeout_ns, name = method, value = url */
  CCROSSING_FIELD,        /* a = flags, name, value: a header field of a fetch */
  CCROSSING_BODY,         /* value */
  CCROSSING_RESPONSE,     /* a = status, b = http_version, value = url: of a fetch; then FIELD... and BODY */
  CCROSSING_KEY_TEXT,     /* value: a key of the store */
  CCROSSING_STORE_ANSWER, /* number = count, value = records */
  CCROSSING_LINE,         /* value */

  /* Of plugins that are watched, and of refused system calls. */
  CCROSSING_WATCHED = 96,
  CCROSSING_NUMBERS,      /* a, b, number */
  CCROSSING_REFUSAL       /* a = its number, b = 1 if it is newer than this worker, number = how often, name = its name, value = the first
                             instruction: a file and a number in it */
};

enum { CCROSSING_TEXT_NAME = 1, CCROSSING_TEXT_VENDOR, CCROSSING_TEXT_URL, CCROSSING_TEXT_SCHEMA, CCROSSING_TEXT_ACCEPT };
enum { CCROSSING_HAS_VALIDATE = 1, CCROSSING_HAS_DRAIN = 2, CCROSSING_HAS_STATE = 4 };

/* A record.  The bytes of name and value follow, and then zeros up to the next multiple of 8.  An absent text has the length
 * CCROSSING_ABSENT and no bytes. */
struct CCrossing_record {
  uint16_t kind, zero;
  uint32_t a, b;
  uint32_t name, value;
  uint32_t zero2;
  uint64_t number;
};
_Static_assert(sizeof(struct CCrossing_record) == 32, "a record has no padding");

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Space in an arena ---- */

/* Gives out blocks of an arena.  Not for several threads at once. */
struct CCrossing_space {
  uint32_t count, next;
  uint64_t *used; /* a bit for each block */
};
/* Returns 0, or -1 without memory. */
int CCrossing_openSpace(struct CCrossing_space *space, uint64_t arena);
void CCrossing_closeSpace(struct CCrossing_space *space);
/* Returns the first of as many blocks as `bytes` need, at least one; UINT32_MAX if there is no room. */
uint32_t CCrossing_take(struct CCrossing_space *space, uint64_t bytes);
void CCrossing_give(struct CCrossing_space *space, uint32_t block, uint64_t bytes);
static inline uint64_t CCrossing_blocks(uint64_t bytes) { return bytes ? (bytes + CCROSSING_BLOCK - 1) / CCROSSING_BLOCK : 1; }

/* ---- Waiting.  All futexes are shared. ---- */

/* Sleeps while *word is `old`, at most for this time; UINT64_MAX: without a limit.  May return early. */
void CCrossing_sleep(const _Atomic uint32_t *word, uint32_t old, uint64_t nanoseconds);
/* Wakes one sleeper.  Returns how many were woken. */
int CCrossing_wake(const _Atomic uint32_t *word);
uint64_t CCrossing_now(void); /* CLOCK_MONOTONIC, nanoseconds */

/* ---- The host's side ---- */

/* Makes a sealed memory file for one direction, and maps it: for writing if `isDown`, else for reading.  Returns its descriptor, with the
 * number 16 or higher and closed on exec; -1 with errno. */
int CCrossing_make(uint64_t arena, int isDown, void **map);
void CCrossing_unmap(const void *map, uint64_t arena);

/* Adds a post, and wakes the lane if it sleeps.  The caller holds the lane's lock and has checked that the ring has room.
 * Returns the number of posts. */
uint32_t CCrossing_post(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t tail, const struct CCrossing_post *post);

void CCrossing_setCrowded(struct CCrossing_down *down, int isCrowded);

/* The content of a slot of `up`, read once. */
struct CCrossing_answer {
  int32_t verdict;
  uint32_t flags, block, length;
  uint64_t nanoseconds, began;
};
enum { CCROSSING_NOT_YET = 0, CCROSSING_ANSWERED = 1, CCROSSING_IS_PENDING = 2 };
/* Whether the slot has the answer of this generation, which is then copied. */
int CCrossing_look(const struct CCrossing_up *up, uint32_t slot, uint32_t generation, struct CCrossing_answer *answer);
/* Waits for it: spins for a learnt time if the lane runs on another processor, then gives the processor to others a few times, then
 * sleeps, at most until `until` (CLOCK_MONOTONIC).  `budget` is learnt, in spins; it belongs to the lane and may be shared by threads. */
int CCrossing_await(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t slot, uint32_t generation, uint64_t until,
                    uint32_t *budget, struct CCrossing_answer *answer);
/* Requests a bell with the answer.  Returns like CCrossing_look(), which the caller need not call after it. */
int CCrossing_announce(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t slot, uint32_t generation,
                       struct CCrossing_answer *answer);
/* A copy of a callback. */
struct CCrossing_question {
  uint32_t request, instance, argument;
  uint64_t number;
  uint32_t block, length;
};
/* Copies a callback that has come since the last one with the generation `seen`.  Returns its generation, or `seen`. */
uint32_t CCrossing_asked(const struct CCrossing_up *up, uint32_t callback, uint32_t seen, struct CCrossing_question *copy);
/* The host has copied the answer: the worker may use its space for another one. */
static inline void CCrossing_done(struct CCrossing_down *down, uint32_t slot, uint32_t generation) {
  atomic_store_explicit(&down->slots[slot].taken, generation, memory_order_release);
}
void CCrossing_reply(struct CCrossing_down *down, uint32_t callback, uint32_t generation, int32_t status);
static inline uint32_t CCrossing_begun(const struct CCrossing_up *up) { return atomic_load_explicit(&up->begun, memory_order_acquire); }
static inline uint32_t CCrossing_stateOf(const struct CCrossing_up *up, uint32_t slot) {
  return atomic_load_explicit(&up->slots[slot].state, memory_order_acquire);
}
static inline uint64_t CCrossing_running(const struct CCrossing_up *up) { return atomic_load_explicit(&up->running, memory_order_acquire); }
static inline uint32_t CCrossing_isReady(const struct CCrossing_up *up) { return atomic_load_explicit(&up->ready, memory_order_acquire); }
/* How many different system calls were refused. */
static inline uint32_t CCrossing_refusedKinds(const struct CCrossing_up *up) {
  return atomic_load_explicit(&up->refusals.kinds, memory_order_acquire);
}
/* How often a system call was refused, and the address of the first instruction. */
static inline uint32_t CCrossing_refused(const struct CCrossing_up *up, uint32_t number, uint64_t *address) {
  if (number > CCROSSING_CALL_NUMBERS) return 0;
  *address = atomic_load_explicit(&up->refusals.addresses[number], memory_order_relaxed);
  return atomic_load_explicit(&up->refusals.counts[number], memory_order_relaxed);
}
/* Copies the lines of a post.  Returns their length, at most CCROSSING_LINES. */
uint32_t CCrossing_copyLines(const struct CCrossing_up *up, uint32_t generation, uint8_t *to);
static inline void CCrossing_begin(struct CCrossing_down *down, uint64_t arena, uint32_t lanes, uint32_t plugins) {
  down->magic = CCROSSING_MAGIC;
  down->version = CCROSSING_VERSION;
  down->lanes = lanes;
  down->plugins = plugins;
  down->arena = arena;
}
static inline void CCrossing_setLevels(struct CCrossing_down *down, uint32_t levels) { atomic_store(&down->levels, levels); }

/* ---- The worker's side ---- */

/* Maps one direction from its descriptor.  Returns NULL with errno. */
void *CCrossing_map(int descriptor, uint64_t arena, int isDown);
/* Waits for post number `begun`, at most until `until`, and while *attention is 0; spins first as CCrossing_await() does.  Returns 1 and
 * the post, or 0; may return early. */
int CCrossing_next(const struct CCrossing_down *down, struct CCrossing_up *up, uint32_t begun, uint64_t until,
                   const _Atomic uint32_t *attention, uint32_t *budget, struct CCrossing_post *post);
/* Makes that lane, or the next of its waits, return early. */
void CCrossing_attend(const struct CCrossing_down *down, const struct CCrossing_up *up, _Atomic uint32_t *attention);
/* Publishes the answer of a slot, and wakes a thread that sleeps for it.  Returns whether the bell must be rung. */
int CCrossing_publish(const struct CCrossing_down *down, struct CCrossing_up *up, const struct CCrossing_post *post,
                      const struct CCrossing_answer *answer);
/* Notes a refused call; for a signal handler.  Returns whether it is the first with this number, so that the bell must be rung. */
int CCrossing_refuse(struct CCrossing_up *up, int64_t number, uint64_t address);
/* Adds a line of the post that the lane handles.  Lines that no longer fit push the earlier ones out. */
void CCrossing_addLine(struct CCrossing_up *up, uint32_t generation, const uint8_t *line, size_t length);
/* Publishes that a hook is pending.  The same return value. */
int CCrossing_pend(const struct CCrossing_down *down, struct CCrossing_up *up, const struct CCrossing_post *post);

static inline void *CCrossing_arena(const void *map, uint32_t block) {
  return (char *)(uintptr_t)map + CCROSSING_ARENA + (uint64_t)block * CCROSSING_BLOCK;
}

#ifdef __cplusplus
}
#endif
#endif
