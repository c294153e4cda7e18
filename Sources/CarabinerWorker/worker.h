/* The host's side of carabiner.h, in a process of its own.  Lanes run hooks, and the main thread is the control thread.
 *
 * No file uses one that uses it.  The layers from above down: main.c; run.c and control.c, which take posts; hooks.c and releases.c;
 * instances.c; load.c; watch.c and host.c; the functions of the host; callbacks.c and calls.c; pairs.c and lanes.c; records.c.
 *
 * Statuses, limits and the order of checks are those of the host itself: Sources/CarabinerBridge/Bridge and Services. */
#ifndef CARABINER_WORKER_H
#define CARABINER_WORKER_H

#include <carabiner.h>
#include <pthread.h>

#include "crossing.h"
#include "memory.h"
#include "records.h"

enum {
  MOST_INSTANCES = 4096,
  MOST_SELVES = 1 << 16,
  KEPT_SELVES = 1024,   /* ids of instances that are gone, for late lines of their logs */
  MOST_INTERCEPTORS = 64,
  MOST_CALLS = 65536,
  MOST_TIMERS = 65536,
  MOST_REQUESTS = 65536, /* fetches and operations on the store that are under way */
  MOST_KEYS = 65536,
  MOST_KEY_BYTES = 128,
  MOST_BUFFERS = 1 << 20,
  BUFFER_CHARGE = 1024,
  MOST_BUFFER_BYTES = 256 << 20,
  MOST_SCRATCH_BYTES = 16 << 20,
  MOST_HEADERS = 1024,
  MOST_HEADER_BYTES = 64 << 10,
  MOST_ELEMENTS = 65536,
  MOST_ELEMENT_BYTES = 256 << 20,
  MOST_LOG_BYTES = 16384,
  MOST_FETCH_HEADERS = 256,
  MOST_SCHEMA_BYTES = 1 << 20,
  MOST_TEXT_BYTES = 4096,
  MOST_KEPT = 4096 /* memory of revoked hooks that their plugins may still read */
};
#define READING_TIME UINT64_C(60000000000)
#define DEFAULT_BUFFER_BYTES (UINT64_C(256) << 20)

enum { KIND_GRAPHQL, KIND_CACHE, KIND_HTTP, KIND_PARSING, KINDS };
enum { HOOKS = CCROSSING_ON_END + 1 };
enum { GRANT_FETCH = 1, GRANT_STORE = 2 };

/* ---- Plugins ---- */

/* A stage of an interceptor, with NULL for slots beyond its size (R1). */
struct stage {
  int exists;
  uint32_t needs, mutates;
  void (*hooks[HOOKS])(void);
  void (*on_cancel)(void *, crb_call, void *);
  void (*release)(void *, void *);
  const char *accept;
};

struct interceptor {
  struct library *library;
  crb_interceptor table;
  struct stage stages[KINDS];
};

struct library {
  uint32_t number;
  int is_watched; /* by a laboratory */
  crb_host host;
  crb_plugin table;
  uint32_t count;
  struct interceptor *interceptors;
};

/* Counts buffers.  It may outlive its instance. */
struct account {
  _Atomic uint32_t references;
  _Atomic int64_t used;
  int64_t limit;
};

struct instance {
  uint32_t number;
  const struct interceptor *interceptor;
  void *pointer;
  crb_self self;
  crb_create_info info; /* its texts belong to the instance */
  pthread_mutex_t alone; /* for CRB_THREADS_SERIAL */
};

/* load.c: fills `answer` with the description or a FAILURE, and returns its status. */
crb_status load_plugin(uint32_t number, const struct reader *message, struct records *answer);
const struct interceptor *find_interceptor(uint64_t argument);
void end_plugins(void);
/* tables.c: copies the tables of an interceptor.  Returns NULL, or what is wrong. */
const char *read_interceptor(const crb_interceptor *from, struct interceptor *to);
void describe(const struct interceptor *interceptor, struct records *answer);

/* instances.c */
crb_status validate(const struct interceptor *interceptor, crb_view config, struct records *answer);
crb_status create_instance(uint32_t number, uint64_t argument, struct reader message, struct records *answer);
struct instance *find_instance(uint32_t number);
/* Makes the instance of one call. */
crb_status create_own(struct instance *instance, void **own, struct records *answer);
void destroy_own(const struct instance *instance, void *own);
crb_status save_state(struct instance *instance, struct records *answer);
crb_status adopt_state(struct instance *instance, struct reader message, struct records *answer);
void drain_instance(struct instance *instance);
void destroy_instance(struct instance *instance);
void destroy_instances(void);
static inline int is_per_call(const struct instance *instance) {
  return instance->interceptor->table.thread_class == CRB_THREADS_PER_CALL;
}
static inline int is_serial(const struct instance *instance) {
  return instance->interceptor->table.thread_class == CRB_THREADS_SERIAL;
}

/* selves.c: the ids of callers. */
struct member {
  crb_self id;
  uint32_t library;  /* number + 1 */
  uint32_t instance; /* 0 for a library itself */
  uint32_t grants;
  struct account *account;
};
/* The library whose code runs on this thread, as number + 1; 0 if unknown. */
extern _Thread_local uint32_t running_library;
/* Returns 0 if there are too many. */
crb_self add_self(uint32_t library, uint32_t instance, uint32_t grants, uint64_t buffer_bytes);
void retire_self(crb_self id);
/* Copies the member.  Returns 0 if the id is not valid for the running library. */
int find_self(crb_self id, struct member *member);
void release_account(struct account *account);

/* ---- Calls ---- */

/* The life of a token, in a word: generation (32 bits), verdict (16), state (16). */
enum { TOKEN_FREE, TOKEN_ARMED, TOKEN_RESUMED, TOKEN_PARKED, TOKEN_ENDING };
static inline uint64_t pack_token(uint32_t generation, int32_t verdict, uint32_t state) {
  return (uint64_t)generation << 32 | (uint64_t)(uint16_t)verdict << 16 | state;
}
static inline uint32_t token_generation(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint32_t token_state(uint64_t word) { return (uint32_t)(word & 0xffff); }
static inline crb_verdict token_verdict(uint64_t word) { return (int16_t)(uint16_t)(word >> 16); }

/* A call.  Its memory is used again for other calls and never freed, so a stale handle is noticed without a look at freed memory. */
struct call {
  /* For any thread. */
  _Atomic uint64_t id; /* the host's, which is the handle too; 0: none */
  _Atomic uint32_t busy, phase; /* phase: the open hook + 1; 0: none */
  _Atomic uint64_t token;
  _Atomic uint32_t is_cancelled, attempt, operation_type;
  _Atomic uint64_t deadline, request_id;
  _Atomic uint32_t post_generation; /* of the hook that began last */
  _Atomic(struct lane *) lane;
  _Atomic uint32_t slot;
  uint32_t index;
  /* Under the lock of the table. */
  uint32_t users, is_kept;
  struct call *next; /* in its bucket, or in the list of free ones */
  /* Of the owner: the lane while no hook is open, else the holder of `busy`. */
  struct CCrossing_post post;
  const struct CCrossing_snapshot *snapshot;
  struct instance *instance;
  const struct stage *stage;
  uint64_t began;
  void *state, *own;
  int has_own;
  struct memory views, scratch;
  uint64_t scratch_until; /* a revoked hook may use the scratch memory */
  crb_token scratch_reader;
  struct edits {
    struct records records;
    uint32_t headers, elements, version;
    uint64_t element_bytes;
    size_t first_header; /* changes of headers before it were discarded by a new head */
    size_t fields[12], head, error, more, retry; /* places + 1 of the newest; 0: none */
  } edits;
  /* The changes of the stages before this one in the same crossing: headers and baggage. */
  struct earlier {
    struct records records;
    uint32_t headers;
  } earlier;
  crb_header *view; /* the headers with the changes of `view_version` */
  size_t view_count;
  uint32_t view_version;
};

/* calls.c */
/* Finds the call or makes it, and counts a user.  NULL if there are too many. */
struct call *begin_use(uint64_t id);
/* The same for a call that exists. */
struct call *use_existing(uint64_t id);
/* Counts a user less.  A call without users is forgotten unless it is kept. */
void end_use(struct call *call);
/* The same, after a hook. */
void finish_use(struct call *call, int is_kept);
void keep_call(struct call *call, int is_kept);
/* For functions that any thread may call; NULL if the handle is stale. */
struct call *find_call(crb_call handle);
struct call *call_at(uint32_t index);
/* Begins an [owner] function.  NULL with a status if there is no open hook, or if another thread is in one. */
struct call *enter(crb_call handle, crb_status *status);
static inline void leave(struct call *call) { atomic_store_explicit(&call->busy, 0, memory_order_release); }
/* Closes the hook.  When this returns, no thread is in a function of the host for this call. */
void close_hook(struct call *call);
extern _Thread_local struct call *running_call;
/* Makes the token of a pending hook stale, and forgets what the hook staged.  Returns 0 if no hook was pending. */
int revoke_hook(struct call *call);
static inline int open_hook(const struct call *call) { return (int)atomic_load_explicit(&call->phase, memory_order_relaxed) - 1; }

/* kept.c: memory that a plugin may read although its hook was revoked. */
void keep_memory(struct memory *memory, crb_token reader, uint64_t until);
void note_resumed(crb_token reader);
/* Frees what is overdue.  Returns when the next one is; UINT64_MAX: never. */
uint64_t sweep_kept(uint64_t now);

/* edits.c: each returns CRB_OK or CRB_E_NOMEM. */
crb_status stage(struct call *call, const struct CCrossing_record *record, crb_view name, crb_view value);
void reset_edits(struct edits *edits);
/* Whether the edits leave the message to the next stage of a crossing: nothing but headers, baggage and lines of the log. */
int allow_next_stage(const struct edits *edits);
/* Adds the changes that the next stage sees.  Returns 0 without memory. */
int add_earlier(struct earlier *earlier, const struct edits *edits);
static inline void reset_earlier(struct earlier *earlier) {
  reset_records(&earlier->records);
  earlier->headers = 0;
}
/* The bytes of the live records; they are written to `to`. */
uint64_t edits_size(const struct edits *edits);
void write_edits(const struct edits *edits, uint8_t *to);
/* Drops a record that a later one replaces. */
void drop_record(struct edits *edits, size_t *place);
static inline const struct CCrossing_record *record_at(const struct edits *edits, size_t place) {
  return (const void *)(edits->records.bytes + place - 1);
}
crb_view record_name(const struct CCrossing_record *record);
crb_view record_value(const struct CCrossing_record *record);

/* view.c */
crb_view snapshot_text(const struct call *call, struct CCrossing_text text);
const struct CCrossing_part *snapshot_parts(const struct call *call);
const struct CCrossing_field *snapshot_fields(const struct call *call);
const struct CCrossing_bag *snapshot_bags(const struct call *call);
const struct CCrossing_field *snapshot_event_fields(const struct call *call);
/* The headers that the hook sees, with its changes.  Returns 0 without memory. */
int see_headers(struct call *call, const crb_header **headers, size_t *count);
const struct CCrossing_follower *snapshot_followers(const struct CCrossing_snapshot *snapshot);
/* Whether the headers have changes.  Does not apply them. */
static inline int has_header_edits(const struct call *call) {
  return call->edits.headers > 0 || call->edits.head > 0 || call->earlier.headers > 0;
}
int is_same_name(crb_view one, crb_view other);
/* The event of the hook, in memory of its views; NULL without memory. */
void *make_event(struct call *call);

/* ---- Lanes ---- */

struct lane {
  const struct CCrossing_down *down;
  struct CCrossing_up *up;
  struct CCrossing_space space;
  _Atomic uint32_t attention, finished; /* finished: posts that are done */
  uint32_t begun, budget;
  uint32_t failure_block, failure_length; /* a ready-made answer for when the arena is full */
  _Atomic uint64_t resumed[CCROSSING_SLOTS / 64]; /* the slots whose tokens were resumed */
  struct lane_slot {
    struct call *call;  /* of a pending hook */
    uint32_t token;     /* its generation; 0: no hook is pending */
    uint32_t generation, block, length; /* of the answer */
  } slots[CCROSSING_SLOTS];
  /* The stages of the crossing that runs. */
  struct row {
    struct CCrossing_post post;     /* of the first stage; its slot is CCROSSING_NO_SLOT once its answer is published */
    struct CCrossing_answer answer; /* of that stage, while it is held back: one wake-up announces the whole row */
    int is_held;
    uint64_t held_since;
    const struct CCrossing_follower *followers;
    uint32_t count, next; /* followers, and of these the first one that is neither called nor passed over */
    struct earlier earlier; /* while no hook has it */
  } row;
};

/* lanes.c */
int open_lane(struct lane *lane, const struct CCrossing_down *down, struct CCrossing_up *up);
void mark_resumed(struct lane *lane, uint32_t slot);
/* Room for an answer in the arena of `up`; NULL if there is none. */
void *take_room(struct lane *lane, const struct CCrossing_post *post, uint64_t bytes, struct CCrossing_answer *answer);
void publish(struct lane *lane, const struct CCrossing_post *post, struct CCrossing_answer *answer);
void free_slot(struct lane *lane, uint32_t slot);
void ring_bell(void);

/* pairs.c */
extern struct lane control, lanes[];
extern uint32_t lane_count;
/* Makes the control thread return early from its wait. */
void wake_control(void);
/* Waits until the lanes have done all posts so far, at most for this time. */
void wait_for_lanes(uint64_t nanoseconds);
uint32_t plugin_count(void);
uint32_t plugin_descriptor(uint32_t number);

/* hooks.c: runs a hook, and those of the stages that follow in the same crossing. */
void run_crossing(struct lane *lane, const struct CCrossing_post *post);
void complete(struct lane *lane, struct call *call, crb_verdict verdict);

/* ---- The control thread ---- */

/* control.c */
_Noreturn void run_control(void);

/* releases.c */
/* Runs release() and takes back the memory of a call. */
void release_call(uint64_t id);
/* Runs release() of a call once the control thread has done all posts before it.  0: it has, and the caller does it. */
int defer_release(uint64_t id);
/* Runs the releases that are due, or all. */
void run_deferred(int all);

/* callbacks.c: asks the host, and waits for its status if `waits`. */
crb_status ask(uint16_t request, uint32_t instance, uint32_t argument, uint64_t number, const struct records *message, int waits);
void lock_control(void);
void unlock_control(void);

/* ---- Functions of the host ---- */

void fill_host(crb_host *host);
const void *query(crb_self who, const char *id);

crb_buf buf_alloc(crb_self who, size_t n, uint8_t **writable);
crb_buf buf_adopt(crb_self who, const void *bytes, size_t n, void (*drop)(void *user), void *user);
crb_buf buf_slice(crb_buf buf, size_t offset, size_t n);
crb_status buf_retain(crb_buf buf);
crb_status buf_release(crb_buf buf);
crb_view buf_view(crb_buf buf);
/* The bytes of a buffer whose reference the caller takes over; 0 if it is stale. */
int take_buffer(crb_buf buf, crb_view *bytes);

void *scratch(crb_call call, size_t n, size_t align);
crb_token suspend_hook(crb_call call);
crb_status resume_hook(crb_token token, crb_verdict verdict);
int32_t cancelled(crb_call call);
uint64_t deadline_ns(crb_call call);
uint32_t attempt(crb_call call);
uint32_t operation_type(crb_call call);
uint64_t request_id(crb_call call);

crb_status emit(crb_call call, uint32_t kind, crb_buf bytes, uint32_t flags);
crb_status set_error(crb_call call, const crb_error *error);
crb_status set_retry(crb_call call, uint32_t scope, uint64_t delay_ns);
crb_status set_head(crb_call call, const crb_head *head);

crb_status headers(crb_call call, const crb_header **out, size_t *count);
crb_status header_get(crb_call call, crb_view name, crb_view *out);
crb_status header_set(crb_call call, crb_view name, crb_view value, uint32_t flags);
crb_status field_get(crb_call call, uint32_t part, crb_view *out);
crb_status field_set(crb_call call, uint32_t part, crb_buf bytes);

crb_key baggage_key(crb_self who, crb_view name);
crb_status bag_get(crb_call call, crb_key key, crb_value *out);
crb_status bag_set(crb_call call, crb_key key, uint32_t scope, const crb_value *value);
int32_t log_enabled(crb_self who, uint32_t level);
void log_line(crb_self who, uint32_t level, crb_call call, crb_view message);

/* watch.c: a laboratory judges what the plugin does. */
void watch_host(crb_host *host);
/* A hook of a plugin that is watched has returned. */
void watch_return(const struct call *call, crb_verdict verdict);

/* refused.c */
void list_refusals(struct records *answer);

/* timers.c */
extern const crb_timer_service timer_service;
/* Fires what is due.  Returns when the next one is; UINT64_MAX: never. */
uint64_t fire_timers(uint64_t now);

/* fetch.c and store.c */
extern const crb_fetch_service fetch_service;
extern const crb_store_service store_service;
void finish_fetch(uint64_t number, struct reader message);
void finish_store(uint64_t number, struct reader message);

/* text.c */
int is_token(crb_view text);
int is_field_value(crb_view text);
int is_utf8(crb_view text);
int is_method(crb_view text);
static inline int has_length(crb_view view) { return view.len <= SIZE_MAX / 2; }
static inline int is_header_name(crb_view text) { return text.ptr && text.len && has_length(text) && is_token(text); }
static inline int is_header_value(crb_view text) { return has_length(text) && (!text.ptr || is_field_value(text)); }

/* contract.c */
enum { MAY_READ = 1, MAY_WRITE = 2, IS_EVENT = 4 };
unsigned rights(uint32_t part, int hook, int kind);
int sees_response(int hook, int kind);
int may_emit(int results, int hook, int kind);
uint32_t replaced_part(int hook, int kind);
int may_set_head(int hook, int kind);

#endif
