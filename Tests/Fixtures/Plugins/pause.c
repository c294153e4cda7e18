/* Delays each operation by two milliseconds. It keeps a lock of its own while it starts the timer, as a plugin may: the timer runs on
 * another thread, which then waits for the lock. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.pause\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct pause {
  pthread_mutex_t lock;
  /* The call, and a timer that is armed. */
  atomic_int users;
  crb_token token;
  crb_timer timer;
} pause_t;

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  crb_self *self = malloc(sizeof *self);
  if (!self) return CRB_E_NOMEM;
  *self = info->self;
  *inst = self;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static void leave(pause_t *p) {
  if (atomic_fetch_sub(&p->users, 1) != 1) return;
  pthread_mutex_destroy(&p->lock);
  free(p);
}

static crb_token take(pause_t *p, crb_timer *timer) {
  pthread_mutex_lock(&p->lock);
  crb_token token = p->token;
  *timer = p->timer;
  p->token = 0;
  p->timer = 0;
  pthread_mutex_unlock(&p->lock);
  return token;
}

static void fire(void *user) {
  pause_t *p = user;
  crb_timer timer;
  crb_token token = take(p, &timer);
  if (token) host->resume(token, CRB_CONTINUE);
  leave(p);
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const crb_self self = *(crb_self *)inst;
  const crb_timer_service *timers = host->query(self, "crb.timer/1");
  if (!timers || *state) return CRB_CONTINUE;
  pause_t *p = calloc(1, sizeof *p);
  if (!p) return CRB_CONTINUE;
  pthread_mutex_init(&p->lock, NULL);
  atomic_init(&p->users, 2);
  *state = p;
  pthread_mutex_lock(&p->lock);
  const crb_token token = host->suspend(call);
  p->token = token;
  p->timer = token ? timers->arm(self, 2000000, fire, p) : 0;
  const int is_armed = p->timer != 0;
  if (!is_armed) p->token = 0;
  pthread_mutex_unlock(&p->lock);
  if (is_armed) return CRB_PENDING;
  leave(p);
  if (!token) return CRB_CONTINUE;
  host->resume(token, CRB_CONTINUE);
  return CRB_PENDING;
}

static void on_cancel(void *inst, crb_call call, void *state) {
  (void)call;
  const crb_timer_service *timers = host->query(*(crb_self *)inst, "crb.timer/1");
  if (!state || !timers) return;
  pause_t *p = state;
  crb_timer timer;
  const crb_token token = take(p, &timer);
  if (timer && timers->cancel(timer) == CRB_OK) leave(p);
  if (token) host->resume(token, CRB_CONTINUE);
}

static void release(void *inst, void *state) {
  (void)inst;
  if (state) leave(state);
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .on_request = on_request, .on_cancel = on_cancel, .release = release};
static const crb_interceptor interceptor = {
    .size = sizeof interceptor, .thread_class = CRB_THREADS_CONCURRENT, .id = "org.carabiner.test.pause", .version = "1.0.0",
    .graphql = &graphql, .create = create, .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
