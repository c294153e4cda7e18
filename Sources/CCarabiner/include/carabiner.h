/* carabiner.h - the contract between the Carabiner host and an interceptor plugin.  ABI 1.0.
 *
 * A plugin author needs this file only.  It compiles as C11 and as C++17, and Swift imports it unchanged; Kits/rust has the
 * same tables for Rust.  A plugin links nothing: it is a shared object that exports ONE function.
 *
 *
 * 1.  A whole plugin
 * ------------------
 * It puts one header on every GraphQL request.  Build:
 *     cc -std=c11 -fPIC -shared -fvisibility=hidden -Wl,-z,relro,-z,now,-z,noexecstack -o hello.so hello.c
 *
 *     #include <carabiner.h>
 *     CRB_DECLARE_NOTE("{\"id\":\"org.example.hello\",\"version\":\"1.0.0\",\"abi\":[1,0]}");
 *     static const crb_host *host;
 *     static crb_view text(const char *s, size_t n) { crb_view v = { (const uint8_t *)s, n }; return v; }
 *
 *     static crb_verdict on_request(void *inst, crb_call call, void **state) {
 *       (void)inst; (void)state;
 *       return host->header_set(call, text("X-Hello", 7), text("world", 5), 0) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
 *     }
 *     static const crb_graphql_stage graphql = {
 *       .size = sizeof graphql, .needs = 0, .mutates = CRB_PART_HEADERS, .on_request = on_request };
 *
 *     static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
 *       (void)h; (void)info; (void)why; *inst = NULL; return CRB_OK;
 *     }
 *     static const crb_interceptor hello = {
 *       .size = sizeof hello, .thread_class = CRB_THREADS_CONCURRENT,
 *       .id = "org.example.hello", .version = "1.0.0", .graphql = &graphql, .create = create };
 *     static const crb_interceptor *const items[] = { &hello };
 *     static const crb_plugin table = {
 *       .size = sizeof table, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items };
 *
 *     CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) { host = h; return &table; }
 *
 *
 * 2.  The journey of a call
 * -------------------------
 *     GraphQL on_request, in order    -> cache on_read -> HTTP on_request, in order  -> network
 *     GraphQL on_result, in reverse   <- parser        <- HTTP on_head and on_chunk, in reverse  <-'
 *     cache on_write, then the caller.
 * A stage never calls the next stage.  Each hook returns a VERDICT, and the host continues.
 *
 *
 * 3.  The rules
 * -------------
 *  R1  Every struct that may grow starts with `uint32_t size`, its size in bytes where it was filled.  Structs grow only
 *      at the end.  A slot beyond `size`, or NULL, means "not implemented".  crb_view, crb_header and crb_value never grow.
 *  R2  Text is UTF-8 in a crb_view and is NOT NUL-terminated.  {NULL, 0} is absent, {p, 0} is present and empty.
 *  R3  A view received in a hook is valid until that hook COMPLETES: it returned a verdict other than CRB_PENDING, or its
 *      token was resumed.  Setters stage their edits, so no setter moves or ends a view already handed out.  If the host
 *      revokes the token (a timeout, a cancelled call), views stay valid until the plugin resumes it, for at most 60 seconds.
 *  R4  Neither side frees the memory of the other.  Bytes are passed as views (borrowed), as crb_buf (counted), or adopted
 *      with a drop function.
 *  R5  Host objects are 64-bit handles, never pointers.  A handle whose object has ended gives CRB_E_STALE.
 *  R6  Every function carries a thread tag:
 *        [owner]  for one call, one thread at a time: the thread inside the hook, or after suspend() the holder of the token,
 *                 until resume() returns.  A second thread gets CRB_E_THREAD.
 *        [any]    any thread, at any time, concurrently.
 *        [load]   while loading or unloading: serially, never concurrent with a hook of the same library.
 *  R7  The host never calls a hook from inside a host function; resume() never runs plugin code on your stack.
 *  R8  A hook must not block (budget: 1 ms), exit, fork, longjmp out, or let an exception or panic cross this boundary.
 *      To wait, suspend.
 *  R9  For a stage whose on_request completed with CRB_CONTINUE exactly one of { on_end, on_error (finished), on_cancel }
 *      comes before release().  A stage's own CRB_FAIL does not come back to its own on_error.  After release() no hook
 *      is called with that state; after destroy() none with that instance.
 *  R10 Libraries are never unmapped.  deinit() runs at an orderly exit of the process, or not at all.
 *  R11 A stage can read only the parts that it declared in `needs`; reading another part gives CRB_E_STATE.  It can change only
 *      the parts that it declared in `mutates`; changing another part gives CRB_E_READONLY.
 *  R12 Header names are tokens (RFC 9110); values must not hold CR, LF or NUL: the setter answers CRB_E_INVAL.
 *
 *
 * 4.  Which part, in which hook
 * -----------------------------
 * r: field_get or headers(); w: field_set or header_set (declare it in `mutates`); e: arrives in the event struct, replace
 * it with emit(); -: CRB_E_STATE.  "cache" is on_read and on_write; "after" is on_result, on_error and on_end of a GraphQL
 * stage; on_end of an HTTP stage is like its on_chunk.  Elements for RESPOND, RECOVER and on_end are staged with emit() too;
 * they replace nothing, so they need no `mutates`.
 *
 *     part             | graphql      graphql | cache | http        http     http      http      | parser
 *                      | on_request   after   |       | on_request  on_head  on_chunk  on_error  | all hooks
 *     -----------------+----------------------+-------+------------------------------------------+----------
 *     HEADERS          | r w          r       | r     | r w         r w (1)  r (1)     r         | r (1)
 *     BODY             | -            -       | -     | r w (3)     r (3)    r (3)     r (3)     | -
 *     URL, METHOD      | -            -       | -     | r w         r        r         r         | -
 *     DOCUMENT         | r w          r       | r     | -           -        -         -         | -
 *     VARIABLES        | r w          r       | r     | -           -        -         -         | -
 *     EXTENSIONS       | r w          r       | r     | -           -        -         -         | -
 *     OPERATION_NAME   | r            r       | r     | -           -        -         -         | r
 *     JSON DATA ERRORS |              e (2)   | e     |                                          | emit
 *     CHUNK            |                      |       |                      e                   | e
 *
 *     (1) the response's headers; before the head arrived, CRB_E_STATE.  In all other places they are the request's.
 *     (2) in crb_result; replace the result with emit() and CRB_PART_JSON declared in `mutates`
 *     (3) an upload is read from disk while it is sent: field_get answers CRB_E_UNSUPPORTED, field_set replaces it as a whole
 *
 *
 * 5.  Which verdict, from which hook
 * ----------------------------------
 *                          CONTINUE PENDING RESPOND DROP FINISH FAIL RETRY RECOVER
 *     graphql on_request      x        x       x                  x    x
 *     graphql on_result       x        x              x     x     x    x
 *     http    on_request      x        x       x                  x    x
 *     http    on_head         x        x                          x    x
 *     http    on_chunk        x        x              x     x     x
 *     cache   on_read         x        x       x                  x
 *     cache   on_write        x        x              x           x
 *     parser  on_head         x        x              x           x
 *     parser  on_chunk        x        x                    x     x
 *     any     on_error        x        x              x           x    x     x
 *     any     on_end          x        x                          x
 *
 *     Any negative verdict is a FAIL.  Anything else is a plugin fault: the call fails with CRB_ERROR_PLUGIN_FAULT and the
 *     message names the plugin, the hook and the verdict.  RECOVER and DROP in on_error are for GraphQL stages; a CHAIN retry
 *     is for GraphQL stages, a STAGE retry for HTTP stages.
 */
#ifndef CARABINER_H
#define CARABINER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CRB_ABI_MAJOR 1
#define CRB_ABI_MINOR 0

/* Puts the entry function in front of -fvisibility=hidden and --gc-sections. */
#define CRB_EXPORT __attribute__((visibility("default"), used))

/* True if table `t` is present, long enough to hold slot `f`, and the slot is filled (R1). */
#define CRB_HAS(t, f) ((t) && (t)->size >= offsetof(__typeof__(*(t)), f) + sizeof((t)->f) && (t)->f)

/* ------------------------------------------------------------------------------------------------------------------
 * Plain values
 * ---------------------------------------------------------------------------------------------------------------- */

/* Borrowed bytes (R2, R3). */
typedef struct crb_view {
  const uint8_t *ptr;
  size_t len;
} crb_view;

typedef uint64_t crb_call;   /* one call through the stages of one kind; 0 is none */
typedef uint64_t crb_token;  /* one suspended hook; 0 is none */
typedef uint64_t crb_buf;    /* counted bytes; 0 is none */
typedef uint64_t crb_timer;  /* one armed timer; 0 is none */
typedef uint64_t crb_self;   /* the caller: host->self before create(), info->self after it; only its own library may use it */
typedef uint32_t crb_key;    /* an interned baggage key; 0 is none */

/* The result of host functions, and of validate, create and init. */
typedef int32_t crb_status;
enum {
  CRB_OK = 0,
  CRB_E_INVAL = -1,        /* an argument is malformed */
  CRB_E_NOMEM = -2,        /* memory or quota exhausted */
  CRB_E_UNSUPPORTED = -3,  /* this host does not support that */
  CRB_E_STALE = -4,        /* the handle's object has ended (R5) */
  CRB_E_STATE = -5,        /* not in this hook (section 4), or not declared in `needs` (R11) */
  CRB_E_LIMIT = -6,        /* a limit of the host was reached */
  CRB_E_THREAD = -7,       /* [owner] function called by a second thread (R6) */
  CRB_E_NOTFOUND = -8,     /* no such key, header or part */
  CRB_E_READONLY = -9,     /* not declared in `mutates` (R11) */
  CRB_E_INTERNAL = -10     /* a fault of the host: please report it */
};

/* The result of a hook (section 5). */
typedef int32_t crb_verdict;
enum {
  CRB_CONTINUE = 0,  /* continue; staged edits apply */
  CRB_PENDING = 1,   /* suspend() was called; resume() supplies the verdict */
  CRB_RESPOND = 2,   /* the staged elements are the response: skip all inner stages */
  CRB_DROP = 3,      /* remove this result, chunk, error or write; in a parser's on_head: leave it to the next parser */
  CRB_FINISH = 4,    /* pass on the staged elements (or this one), then end the stream and cancel the rest */
  CRB_FAIL = 5,      /* end with the error staged by set_error() */
  CRB_RETRY = 6,     /* start again, as set_retry() says */
  CRB_RECOVER = 7    /* the staged result replaces the error; the stream then ends */
};

/* Parts of a message: bits of `needs` and `mutates`, and the `part` argument of field_get and field_set (section 4). */
enum {
  CRB_PART_HEADERS = 1 << 0,
  CRB_PART_BODY = 1 << 1,
  CRB_PART_URL = 1 << 2,
  CRB_PART_METHOD = 1 << 3,
  CRB_PART_DOCUMENT = 1 << 4,
  CRB_PART_VARIABLES = 1 << 5,       /* a JSON object */
  CRB_PART_EXTENSIONS = 1 << 6,      /* a JSON object */
  CRB_PART_OPERATION_NAME = 1 << 7,  /* absent for an anonymous operation */
  CRB_PART_JSON = 1 << 8,            /* a result: the whole response object */
  CRB_PART_DATA = 1 << 9,            /* its "data" member */
  CRB_PART_ERRORS = 1 << 10,         /* its "errors" member */
  CRB_PART_CHUNK = 1 << 11           /* the bytes of the response body, as they arrive */
};

/* crb_error.flags */
enum {
  CRB_ERROR_RETRYABLE = 1 << 0,
  CRB_ERROR_TIMEOUT = 1 << 1,
  CRB_ERROR_CANCELLED = 1 << 2,
  CRB_ERROR_TRANSPORT = 1 << 3,
  CRB_ERROR_HTTP_STATUS = 1 << 4,
  CRB_ERROR_PARSE = 1 << 5,
  CRB_ERROR_CACHE = 1 << 6,
  CRB_ERROR_GRAPHQL = 1 << 7,
  CRB_ERROR_LIMIT = 1 << 8,
  CRB_ERROR_PLUGIN_FAULT = 1 << 9  /* a plugin broke a rule of this file */
};

/* Why something failed.  Given to set_error(), which copies it; received in on_error. */
typedef struct crb_error {
  uint32_t size;
  int32_t code;             /* yours to define within `domain` */
  uint32_t flags;           /* CRB_ERROR_* */
  int32_t http_status;      /* 0 if none; with set_error(), 400 to 599: the status of a gateway's response */
  uint64_t retry_after_ns;  /* 0 if unknown; with set_error(), a gateway's Retry-After */
  crb_view domain;          /* reverse DNS; empty: your plugin's id */
  crb_view message;         /* for people: the event, and the next step */
  crb_view detail_json;     /* optional machine-readable detail */
  crb_view origin;          /* manifest entry that failed; filled by the host, ignored in set_error() */
} crb_error;

/* One header field.  Never changes. */
typedef struct crb_header {
  crb_view name;
  crb_view value;
  uint32_t flags;  /* CRB_HEADER_* */
  uint32_t reserved;
} crb_header;
enum { CRB_HEADER_SENSITIVE = 1 /* redacted in logs and traces */ };
enum {
  CRB_HEADER_REPLACE = 0,     /* header_set: one field with this name remains */
  CRB_HEADER_APPEND = 1 << 8  /* header_set: keep the fields already there */
};

/* The head of an HTTP response. */
typedef struct crb_head {
  uint32_t size;
  uint32_t status;        /* 100 to 599 */
  uint32_t http_version;  /* 10, 11, 20 or 30; 0 if unknown */
  uint32_t attempt;       /* 0 for the first try */
  const crb_header *headers;
  size_t header_count;
  crb_view url;  /* after redirects */
} crb_head;

/* A piece of a response body, in order. */
typedef struct crb_chunk {
  uint32_t size;
  uint32_t flags;
  uint64_t seq;  /* 0, 1, 2 ... within this response */
  crb_view bytes;
} crb_chunk;

/* crb_result.flags and the flags of emit() */
enum {
  CRB_RESULT_CACHE = 1 << 0,        /* from a cache */
  CRB_RESULT_HAS_NEXT = 1 << 1,     /* more results follow; of a subscription: may follow */
  CRB_RESULT_INCREMENTAL = 1 << 2,  /* a part of a deferred or streamed response */
  CRB_RESULT_SYNTHETIC = 1 << 3     /* made by a plugin, not by a server */
};

/* One result of an operation, as raw JSON slices.  Only the parts declared in `needs` are filled. */
typedef struct crb_result {
  uint32_t size;
  uint32_t flags;       /* CRB_RESULT_* */
  uint64_t seq;         /* 0, 1, 2 ... within this call */
  crb_view json;        /* CRB_PART_JSON: the whole response object */
  crb_view data;        /* CRB_PART_DATA */
  crb_view errors;      /* CRB_PART_ERRORS: absent when the response has none */
  crb_view extensions;  /* with CRB_PART_JSON */
  crb_view path;        /* of an incremental result: a JSON list; absent if it has several patches */
  crb_view label;       /* of an incremental result: as the document has it; absent likewise */
  int32_t http_status;  /* of the response that carried it; 0 if none did */
  uint32_t reserved;
} crb_result;

/* A baggage value.  Never changes. */
typedef struct crb_value {
  uint32_t type;  /* CRB_VALUE_* */
  uint32_t reserved;
  union {
    int64_t i;  /* BOOL (0 or 1) and I64 */
    double f;   /* F64 */
  } n;
  crb_view v;  /* TEXT, BYTES and JSON */
} crb_value;
enum {
  CRB_VALUE_NONE = 0,
  CRB_VALUE_BOOL = 1,
  CRB_VALUE_I64 = 2,
  CRB_VALUE_F64 = 3,
  CRB_VALUE_TEXT = 4,
  CRB_VALUE_BYTES = 5,
  CRB_VALUE_JSON = 6
};

/* Where a baggage value is visible. */
enum {
  CRB_SCOPE_INNER = 0,  /* to the stages further in; undone on the way out */
  CRB_SCOPE_CALL = 1    /* to every stage, both ways, for the rest of the call, retries included */
};

/* Kinds of elements for emit(). */
enum {
  CRB_EMIT_RESULT = 1,  /* a whole GraphQL response object, {"data":...} and/or {"errors":...} */
  CRB_EMIT_CHUNK = 2    /* bytes of a response body */
};

/* Scopes for set_retry(). */
enum {
  CRB_RETRY_STAGE = 1,  /* HTTP stages: build the HTTP request again and send it */
  CRB_RETRY_CHAIN = 2   /* GraphQL stages: from the first GraphQL stage, with the request as staged */
};

/* Operation types, the results of operation_type(). */
enum { CRB_OPERATION_QUERY = 1, CRB_OPERATION_MUTATION = 2, CRB_OPERATION_SUBSCRIPTION = 3 };

/* Log levels. */
enum { CRB_LOG_TRACE = 0, CRB_LOG_DEBUG = 1, CRB_LOG_INFO = 2, CRB_LOG_WARN = 3, CRB_LOG_ERROR = 4 };

/* ------------------------------------------------------------------------------------------------------------------
 * Stages: the functions of a plugin
 *
 * `inst` is the pointer that create() stored.  `state` is this stage's own pointer for this call: NULL at first, set through
 * `state` in the first hook, passed to every later hook and last to release().  It survives CRB_RETRY.
 * Any hook except the first of its table may be NULL: the host then continues as if it had returned CRB_CONTINUE.
 * ---------------------------------------------------------------------------------------------------------------- */

/* The last hooks of every stage.
 *
 * on_error   [owner]  an inner step failed.  CONTINUE passes the error on, FAIL replaces it by the staged one,
 *                     RECOVER replaces it by the staged result, DROP ends the stream without an element.
 *                     It is not called for cancellation and retries.
 * on_end     [owner]  the inner steps have ended.  May stage last elements with emit().
 * on_cancel  [any]    the call was cancelled; may overlap a hook of the same call.  Set a flag, wake your waiter, return.
 * release    [owner]  the last call, exactly once, if `state` was ever set to non-NULL.  Free the state.
 */
#define CRB_STAGE_TAIL                                                                            \
  crb_verdict (*on_error)(void *inst, crb_call call, void *state, const crb_error *error);        \
  crb_verdict (*on_end)(void *inst, crb_call call, void *state);                                  \
  void (*on_cancel)(void *inst, crb_call call, void *state);                                      \
  void (*release)(void *inst, void *state)

/* Sees GraphQL requests and results.
 *
 * on_request [owner]  mandatory.  Before anything is sent.
 * on_result  [owner]  for each result.  CONTINUE with nothing staged passes it on unchanged; staged results replace it.
 */
typedef struct crb_graphql_stage {
  uint32_t size;
  uint32_t needs;    /* CRB_PART_* this stage reads */
  uint32_t mutates;  /* CRB_PART_* this stage may change */
  uint32_t reserved;
  crb_verdict (*on_request)(void *inst, crb_call call, void **state);
  crb_verdict (*on_result)(void *inst, crb_call call, void *state, const crb_result *result);
  CRB_STAGE_TAIL;
} crb_graphql_stage;

/* Sees HTTP requests and responses.
 *
 * on_request [owner]  mandatory.  To answer without the network: set_head(), emit(CRB_EMIT_CHUNK), return RESPOND.
 * on_head    [owner]  status and headers arrived.  header_set() and set_head() change what stages further out see.
 * on_chunk   [owner]  for each piece of the body.  CONTINUE with nothing staged passes it on; staged chunks replace it.
 */
typedef struct crb_http_stage {
  uint32_t size;
  uint32_t needs;
  uint32_t mutates;
  uint32_t reserved;
  crb_verdict (*on_request)(void *inst, crb_call call, void **state);
  crb_verdict (*on_head)(void *inst, crb_call call, void *state, const crb_head *head);
  crb_verdict (*on_chunk)(void *inst, crb_call call, void *state, const crb_chunk *chunk);
  CRB_STAGE_TAIL;
} crb_http_stage;

/* A cache.
 *
 * on_read    [owner]  mandatory.  RESPOND with one staged result is a hit.  CONTINUE asks the next cache in the manifest.
 * on_write   [owner]  a result of a server.  CONTINUE also offers it to the next cache, DROP does not.
 *                     A FAIL is logged and counted; the caller still gets the result.
 *
 * It may keep results itself, or their objects in the store of the host: see crb.store/1.  Results belong to their caller: the
 * key of a result holds the Authorization of the request beside operation name, document, variables and extensions.
 *
 * Results do not pass through a cache stage.  Its on_error and on_end are not called: rule R9 is for the stages that a request
 * passes.  release() is called as for every stage.
 */
typedef struct crb_cache_stage {
  uint32_t size;
  uint32_t needs;
  uint32_t mutates;
  uint32_t reserved;
  crb_verdict (*on_read)(void *inst, crb_call call, void **state);
  crb_verdict (*on_write)(void *inst, crb_call call, void *state, const crb_result *result);
  CRB_STAGE_TAIL;
} crb_cache_stage;

/* Turns the bytes of a response into results: emit(CRB_EMIT_RESULT) as often as one is complete.
 *
 * on_head    [owner]  mandatory.  CONTINUE takes the response; DROP leaves it to the next parser in the manifest.
 * on_chunk   [owner]  for each piece of the body.
 * on_end     [owner]  the body is complete.  Ending without any result is an error of the caller's stream.
 *
 * accept     The media types it reads, as the field Accept lists them (RFC 9110): "application/cbor;q=0.9".  Static; at most
 *            CRB_ACCEPT_MAX bytes of ASCII.  The host adds them to the Accept of each request, in front of its own if the parser
 *            is in front of the built-in `json` in the manifest, else after.  A request whose caller or stages set Accept
 *            keeps that.  NULL: nothing is added.
 */
#define CRB_ACCEPT_MAX 256
typedef struct crb_parser_stage {
  uint32_t size;
  uint32_t needs;
  uint32_t mutates;
  uint32_t reserved;
  crb_verdict (*on_head)(void *inst, crb_call call, void **state, const crb_head *head);
  crb_verdict (*on_chunk)(void *inst, crb_call call, void *state, const crb_chunk *chunk);
  CRB_STAGE_TAIL;
  const char *accept;
} crb_parser_stage;

/* ------------------------------------------------------------------------------------------------------------------
 * The host: the functions that a plugin may call
 * ---------------------------------------------------------------------------------------------------------------- */

typedef struct crb_host {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
  crb_view name;     /* of the host program */
  crb_view version;  /* of the host program */
  uint64_t features; /* none are defined in 1.0: 0 */
  crb_self self;     /* this library; use crb_create_info.self once you have it */

  /* [any]   A service by id and revision, "crb.timer/1".  NULL if this host has none or the manifest did not grant it.
   *         `id` is NUL-terminated. */
  const void *(*query)(crb_self who, const char *id);

  /* -- bytes: counted against `who` -- */

  /* [any]   A buffer of `n` bytes, one reference, to be filled through `*writable` before it is passed on.
   *         0 if memory or quota is exhausted. */
  crb_buf (*buf_alloc)(crb_self who, size_t n, uint8_t **writable);
  /* [any]   Your bytes, without a copy.  drop(user) runs once, on any thread, when the last reference is
   *         released.  0: nothing was adopted and drop will not run. */
  crb_buf (*buf_adopt)(crb_self who, const void *bytes, size_t n, void (*drop)(void *user), void *user);
  /* [any]   A part of a buffer, with a reference of its own.  0 if the range is outside. */
  crb_buf (*buf_slice)(crb_buf buf, size_t offset, size_t n);
  /* [any]   One reference more. */
  crb_status (*buf_retain)(crb_buf buf);
  /* [any]   One reference less. */
  crb_status (*buf_release)(crb_buf buf);
  /* [any]   The bytes, valid while you hold a reference.  {NULL, 0} if the handle is stale. */
  crb_view (*buf_view)(crb_buf buf);
  /* [owner] Zeroed scratch memory that lives until the call is over; no free.  NULL if exhausted or `align` is not a power
   *         of two. */
  void *(*scratch)(crb_call call, size_t n, size_t align);

  /* -- waiting -- */

  /* [owner] A token to finish this hook later; then return CRB_PENDING.  At most one at a time; 0 otherwise. */
  crb_token (*suspend)(crb_call call);
  /* [any]   Finishes the suspended hook, exactly once, even before it returned.  Plugin code never runs inside.
   *         CRB_E_STALE: already resumed, or cancelled and revoked. */
  crb_status (*resume)(crb_token token, crb_verdict verdict);
  /* [any]   1 cancelled, 0 not, CRB_E_STALE the call is over. */
  int32_t (*cancelled)(crb_call call);
  /* [any]   When the call must be done, CLOCK_MONOTONIC nanoseconds; UINT64_MAX: never. */
  uint64_t (*deadline_ns)(crb_call call);
  /* [any]   0 for the first try, 1 for the first retry.  0 if stale. */
  uint32_t (*attempt)(crb_call call);

  /* -- staged effects: they take effect with the verdict -- */

  /* [owner] Stages an element (CRB_EMIT_*).  Takes over one reference of `bytes`, also when it fails. */
  crb_status (*emit)(crb_call call, uint32_t kind, crb_buf bytes, uint32_t flags);
  /* [owner] Stages the error for CRB_FAIL.  Copied. */
  crb_status (*set_error)(crb_call call, const crb_error *error);
  /* [owner] Sets scope (CRB_RETRY_*) and delay of CRB_RETRY.  Without it: at once, CHAIN for GraphQL stages and STAGE for HTTP
   *         stages. */
  crb_status (*set_retry)(crb_call call, uint32_t scope, uint64_t delay_ns);
  /* [owner] Stages a response head; HTTP on_request (before RESPOND) and on_head.  Copied. */
  crb_status (*set_head)(crb_call call, const crb_head *head);

  /* -- the message: section 4 says when -- */

  /* [any]   CRB_OPERATION_*, or 0 if stale. */
  uint32_t (*operation_type)(crb_call call);
  /* [any]   A number all stages of one call share, for logs.  0 if stale. */
  uint64_t (*request_id)(crb_call call);
  /* [owner] The header fields, in order, duplicates kept.  Valid as R3 says. */
  crb_status (*headers)(crb_call call, const crb_header **out, size_t *count);
  /* [owner] The first value of a header, by case-insensitive name.  CRB_E_NOTFOUND if there is none. */
  crb_status (*header_get)(crb_call call, crb_view name, crb_view *out);
  /* [owner] Sets or appends a header; a value of {NULL, 0} removes all fields of that name.  CRB_E_LIMIT: too many
   *         changes in one hook. */
  crb_status (*header_set)(crb_call call, crb_view name, crb_view value, uint32_t flags);
  /* [owner] One part of the message.  CRB_E_NOTFOUND if it is absent, CRB_E_UNSUPPORTED for the
   *         body of an upload. */
  crb_status (*field_get)(crb_call call, uint32_t part, crb_view *out);
  /* [owner] Replaces one part.  Takes over one reference of `bytes`, also when it fails; 0 removes the part. */
  crb_status (*field_set)(crb_call call, uint32_t part, crb_buf bytes);

  /* -- baggage: small values that travel with the call, copied -- */

  /* [any]   The key for a dotted name, "org.example.user".  The same name gives the same key.  0 if malformed or too many. */
  crb_key (*key)(crb_self who, crb_view name);
  /* [owner] The innermost visible value.  CRB_E_NOTFOUND if there is none. */
  crb_status (*bag_get)(crb_call call, crb_key key, crb_value *out);
  /* [owner] Sets a value in a scope (CRB_SCOPE_*).  CRB_VALUE_NONE hides it. */
  crb_status (*bag_set)(crb_call call, crb_key key, uint32_t scope, const crb_value *value);

  /* -- logging -- */

  /* [any]   1 if a message of this level would be logged.  Cheap: call it before formatting. */
  int32_t (*log_enabled)(crb_self who, uint32_t level);
  /* [any]   One line, no format, no newline.  `call` may be 0. */
  void (*log)(crb_self who, uint32_t level, crb_call call, crb_view message);
} crb_host;

/* ------------------------------------------------------------------------------------------------------------------
 * Services: host->query(self, id).  Always granted: crb.timer/1.  By the manifest's `grants`: crb.fetch/1 (fetch) and
 * crb.store/1 (store).
 * ---------------------------------------------------------------------------------------------------------------- */

/* "crb.timer/1" */
typedef struct crb_timer_service {
  uint32_t size;
  uint32_t reserved;
  /* [any]   CLOCK_MONOTONIC, in nanoseconds. */
  uint64_t (*now_ns)(void);
  /* [any]   Calls fire(user) once, on a thread of the host, not before `delay_ns` passed.  0 if too many are armed, or
   *         `who` is not an id of the caller's library. */
  crb_timer (*arm)(crb_self who, uint64_t delay_ns, void (*fire)(void *user), void *user);
  /* [any]   CRB_OK: fire will not run.  CRB_E_STALE: it ran, runs or was cancelled before. */
  crb_status (*cancel)(crb_timer timer);
} crb_timer_service;

/* A request of the plugin, outside the chain. */
typedef struct crb_fetch_request {
  uint32_t size;
  uint32_t flags;       /* 0 */
  uint64_t timeout_ns;  /* 0: the host's default */
  crb_view method;      /* empty: GET, or POST if there is a body */
  crb_view url;         /* http or https */
  const crb_header *headers;
  size_t header_count;
  crb_view body;
} crb_fetch_request;

/* Limits of crb.fetch/1; beyond them, start() returns CRB_E_LIMIT, and a response ends with an error with the flag CRB_ERROR_LIMIT.  The
 * host may send fewer at once than are under way.  When the instance or its process ends, its requests end with CRB_ERROR_CANCELLED. */
#define CRB_FETCH_MAX_UNDER_WAY 1024u    /* requests of one instance */
#define CRB_FETCH_MAX_BYTES (64u << 20)  /* bytes of these requests and of their responses, together */

/* "crb.fetch/1" */
typedef struct crb_fetch_service {
  uint32_t size;
  uint32_t reserved;
  /* [any]   Starts a request; everything in `request` is copied.  done() runs exactly once, on a thread of the host, if
   *         and only if CRB_OK is returned.  Either `error` is NULL, or `head` is NULL and `body` is empty.  All views end
   *         with done(). */
  crb_status (*start)(crb_self who, const crb_fetch_request *request,
                      void (*done)(void *user, const crb_head *head, crb_view body, const crb_error *error), void *user);
} crb_fetch_service;

/* Limits of crb.store/1; beyond them, functions return CRB_E_LIMIT. */
#define CRB_STORE_MAX_KEYS 65536u         /* keys of one operation */
#define CRB_STORE_MAX_KEY_BYTES 65536u    /* bytes of one key or pattern */
#define CRB_STORE_MAX_BYTES (64u << 20)   /* bytes published by one operation */
#define CRB_STORE_MAX_UNDER_WAY 1024u     /* running operations of one instance */

/* The result of an operation on the store. */
typedef struct crb_store_answer {
  uint32_t size;
  uint32_t reserved;
  uint64_t count;    /* load: records found; publish: fields whose value changed; remove: records there were */
  crb_view records;  /* load: the records, as publish() takes them; else absent */
} crb_store_answer;

/* Receives the result of an operation on the store.  Either `answer` or `error` is NULL; both end with this call.
 *
 * It runs exactly once, on a thread of the host and without its locks, if and only if the operation was started.  It
 * must not block; it may start other operations, and resume() a hook that waits for this one.  An error has the domain
 * "carabiner.store" and the flag CRB_ERROR_CACHE, and CRB_ERROR_RETRYABLE if a later try may succeed. */
typedef void (*crb_store_done)(void *user, const crb_store_answer *answer, const crb_error *error);

/* "crb.store/1": the store of the host, which its built-in cache stage `store` fills and which may be in a file.
 *
 * A RECORD has the fields of one object.  Its key is "Book:1", the type and the key fields; "QUERY_ROOT"; or a path for an object
 * without a key.  Records are passed as one JSON object with a JSON object of fields for each record:
 *
 *     {"QUERY_ROOT": {"book(id:1)": {"$ref": "Book:1"}}, "Book:1": {"__typename": "Book", "id": "1", "title": "Solaris"}}
 *
 * A field is named as in GraphQL, with its arguments sorted and without spaces.  Another object is a reference,
 * {"$ref": KEY}, also within lists.  "... on TYPE" says whether a fragment applies to the object.
 *
 * TRANSACTIONS.  Each operation is a transaction: it sees the store at one moment, and readers see all of its changes or none.
 * If it fails, nothing changes.  Operations that run together have no order; to order them, start the next one in done().
 * Watchers of a changed field are notified after the operation.
 *
 * BLOCKING.  No function here waits: each copies its arguments, starts the operation and returns.  A hook that needs the result
 * suspends.  An operation may wait for others, and for other processes if the store is in a file.
 *
 * Results other than CRB_OK, after which done() never runs:
 *     CRB_E_UNSUPPORTED  the manifest does not grant `store`, `who` is not an instance, or this host has no store
 *     CRB_E_INVAL        done is NULL; a key or pattern is empty or not UTF-8; the published text is not such an object
 *     CRB_E_LIMIT        see CRB_STORE_MAX_* */
typedef struct crb_store_service {
  uint32_t size;
  uint32_t reserved;
  /* [any]   Reads records.  Keys without a record, and fields that are older than the manifest's maximum ages, are left
   *         out of the answer. */
  crb_status (*load)(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user);
  /* [any]   Writes records: given fields are replaced, others stay.  They count as received now.  The JSON is checked before
   *         this returns. */
  crb_status (*publish)(crb_self who, crb_view records, crb_store_done done, void *user);
  /* [any]   Removes the records under these keys. */
  crb_status (*remove)(crb_self who, const crb_view *keys, size_t count, crb_store_done done, void *user);
  /* [any]   Removes the records whose keys match a pattern; `*` matches any text. */
  crb_status (*remove_matching)(crb_self who, crb_view pattern, crb_store_done done, void *user);
} crb_store_service;

/* ------------------------------------------------------------------------------------------------------------------
 * Registration: the result of the entry function
 * ---------------------------------------------------------------------------------------------------------------- */

/* The arguments of create().  Valid during create(). */
typedef struct crb_create_info {
  uint32_t size;
  uint32_t reserved;
  crb_self self;        /* this instance */
  uint64_t generation;  /* of the manifest that creates it */
  crb_view entry_name;  /* of the manifest entry */
  crb_view config_json; /* validated against config_schema; secrets are resolved; "{}" if the manifest has none */
  crb_view origin;      /* the path in the manifest, not the staged copy */
} crb_create_info;

/* Which threads the host may use for the hooks of one instance. */
enum {
  CRB_THREADS_PER_CALL = 1,   /* a fresh instance for each call */
  CRB_THREADS_SERIAL = 2,     /* shared; the host runs one hook at a time (suspended intervals overlap) */
  CRB_THREADS_CONCURRENT = 3  /* shared; hooks of different calls overlap */
};

/* One interceptor.  At least one of the four stages is filled; one instance serves all of them. */
typedef struct crb_interceptor {
  uint32_t size;
  uint32_t thread_class;      /* CRB_THREADS_* */
  const char *id;             /* reverse DNS, unique in the library, at most 128 bytes */
  const char *version;        /* semantic version */
  const char *name;           /* for people; may be NULL */
  const char *vendor;         /* may be NULL */
  const char *url;            /* documentation; may be NULL */
  const char *config_schema;  /* JSON Schema 2020-12, or NULL: no config */
  const crb_graphql_stage *graphql;
  const crb_http_stage *http;
  const crb_cache_stage *cache;
  const crb_parser_stage *parser;

  /* [load]  May be NULL.  Checks a config, without any effect.  On failure fills `why` with static or
   *         host-scratch text. */
  crb_status (*validate)(const crb_host *host, crb_view config_json, crb_error *why);
  /* [load]  Mandatory.  Stores the instance (NULL is fine).  On failure stores nothing, frees everything, fills `why`; the
   *         host reads its text at once, on this thread.
   *         For CRB_THREADS_PER_CALL it runs at the start of each call, [owner]. */
  crb_status (*create)(const crb_host *host, const crb_create_info *info, void **inst, crb_error *why);
  /* [any]   May be NULL.  No new calls will start; running ones finish. */
  void (*drain)(void *inst);
  /* [load]  May be NULL.  After the last release().  A service may still call back for an earlier request: cancel the request, or
   *         let the callback check that the instance is gone. */
  void (*destroy)(void *inst);
  /* [any]   May be NULL.  A table of the plugin's own by id and revision; NULL for what it does not know. */
  const void *(*extension)(void *inst, const char *id);
} crb_interceptor;

/* "crb.selftest/1", an extension(): tests inside a plugin, for properties that no harness can know, such as the signature of a
 * standard.  Hosts do not use it.  `carabiner conform` runs the tests where it runs its own checks. */
typedef struct crb_selftest {
  uint32_t size;
  uint32_t count;  /* of tests */
  /* [any]   The name of test n, for people; static. */
  const char *(*name)(uint32_t n);
  /* [load]  Runs test n with an instance of its own.  CRB_OK: passed.  CRB_E_UNSUPPORTED: it does not apply here.  Otherwise:
   *         failed; `why` has the found and the expected result. */
  crb_status (*run)(void *inst, uint32_t n, crb_error *why);
} crb_selftest;

/* Limit of crb.state/1: the bytes of one instance. */
#define CRB_STATE_MAX_BYTES (16u << 20)

/* "crb.state/1", an extension(): passes state from an instance to its successor, for example a fetched token or the remaining
 * quota of a server.
 *
 * SUCCESSION.  If a new generation of the manifest has an entry of the same name with an interceptor of the same id, the host
 * creates the new instance, calls save() of the old one and adopt() of the new one, and then sends calls to the new one.  They
 * share only these bytes: versions of the plugin, and configurations, may differ.  Later changes of the old instance, from
 * running calls, are not passed.
 *
 * REFUSING.  Either may refuse; this is not a fault.  The new instance then works as create() left it, and the host logs `why`.
 *
 * Instances of CRB_THREADS_PER_CALL have no state to pass and are not asked. */
typedef struct crb_state {
  uint32_t size;
  uint32_t version;  /* of the bytes of save(): your own number, a larger one when their layout changes */
  /* [any]   May be NULL.  Stores a buffer whose only reference goes to the host, which copies the bytes; or nothing, if there
   *         is no state.  On failure stores nothing and fills `why`.  Calls may be running: it runs like a hook, for
   *         CRB_THREADS_CONCURRENT beside other hooks of this instance, for CRB_THREADS_SERIAL alone, and must not block
   *         (R8). */
  crb_status (*save)(void *inst, crb_buf *bytes, crb_error *why);
  /* [load]  May be NULL.  After create() and before the first hook, at most once.  `bytes` end with this call.  They may be
   *         from another version, or damaged: check every length in them.  CRB_E_UNSUPPORTED: it cannot read
   *         this `version`, for example a newer one.  CRB_E_INVAL: it cannot read these bytes.  After a failure the
   *         instance is as create() left it. */
  crb_status (*adopt)(void *inst, uint32_t version, crb_view bytes, crb_error *why);
} crb_state;

/* The registration table: static, read-only. */
typedef struct crb_plugin {
  uint32_t size;
  uint16_t abi_major;           /* CRB_ABI_MAJOR */
  uint16_t abi_minor_built;     /* CRB_ABI_MINOR of the header it was built with */
  uint16_t abi_minor_required;  /* the lowest minor it can work with */
  uint16_t reserved;
  uint32_t count;
  const crb_interceptor *const *items;

  /* [load]  May be NULL.  Once before the first create(), with the path in the manifest. */
  crb_status (*init)(const crb_host *host, crb_view origin);
  /* [load]  May be NULL.  At an orderly exit (R10). */
  void (*deinit)(void);
} crb_plugin;

/* [load]    The ONE symbol that a plugin exports.  Cheap and pure: no threads, files or locks; a second call returns the same
 *           table.  NULL: this plugin cannot work with that host.  The major is part of the name, so one file can support two. */
const crb_plugin *crb_entry_v1(const crb_host *host);

/* ------------------------------------------------------------------------------------------------------------------
 * Identity that is readable without running the plugin: an ELF note in a section named .note.crb
 *
 * The text is one JSON object, {"id":"org.example.hello","version":"1.0.0","abi":[1,0]}, at most CRB_NOTE_MAX - 1 bytes,
 * the rest zero.  "abi" is [major, lowest minor needed].  A library with several interceptors names the first.  "capabilities"
 * may list unusual behaviour, for the conformance harness: imported functions that end or change the process ("abort"), and
 * "varies" if the same request may give different results.  "swift":"6.3.1" is the version of Swift that the plugin was built with:
 * a host refuses a plugin that needs other Swift libraries than its own.  CRB_NOTE_SWIFT adds it before the last brace.
 * ---------------------------------------------------------------------------------------------------------------- */
#define CRB_NOTE_MAX 256
#define CRB_NOTE_TYPE 0x43524231u /* "CRB1" */
struct crb_note {
  uint32_t namesz; /* 4 */
  uint32_t descsz; /* CRB_NOTE_MAX */
  uint32_t type;   /* CRB_NOTE_TYPE */
  char name[4];    /* "CRB" */
  char desc[CRB_NOTE_MAX];
};
/* For plugins in Swift, built with -Xcc -DCRB_SWIFT_VERSION=6.3.1:
 *     CRB_DECLARE_NOTE("{\"id\":\"org.example.hello\",\"version\":\"1.0.0\",\"abi\":[1,0]" CRB_NOTE_SWIFT "}"); */
#ifdef CRB_SWIFT_VERSION
#define CRB_NOTE_TEXT_(version) #version
#define CRB_NOTE_TEXT(version) CRB_NOTE_TEXT_(version)
#define CRB_NOTE_SWIFT ",\"swift\":\"" CRB_NOTE_TEXT(CRB_SWIFT_VERSION) "\""
#else
#define CRB_NOTE_SWIFT ""
#endif
#define CRB_DECLARE_NOTE(json)                                      \
  __attribute__((section(".note.crb"), used, aligned(4)))           \
  static const struct crb_note crb_note_ = { 4, CRB_NOTE_MAX, CRB_NOTE_TYPE, "CRB", json }

#ifdef __cplusplus
}
#endif
#endif /* CARABINER_H */
