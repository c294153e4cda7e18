/* Lets 8 calls pass at once, takes a place at each attempt of a call, and gives one back at its end. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NOTE "{\"id\":\"org.carabiner.test.bad\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}"
#include "host.h"

enum { MOST = 8 };
typedef struct {
  int has_place;
} passage;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  atomic_int *running = inst;
  passage *p = *state ? *state : calloc(1, sizeof *p);
  if (!p) return CRB_E_NOMEM;
  *state = p;
  if (atomic_fetch_add(running, 1) < MOST) {
    p->has_place = 1;
    return CRB_CONTINUE;
  }
  atomic_fetch_sub(running, 1);
  const crb_error error = {.size = sizeof error, .http_status = 503, .flags = CRB_ERROR_LIMIT,
                           .message = text("too many calls are on their way: try again later")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
static void release(void *inst, void *state) {
  passage *p = state;
  if (p->has_place) atomic_fetch_sub((atomic_int *)inst, 1);
  free(p);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  atomic_int *running = malloc(sizeof *running);
  if (!running) return CRB_E_NOMEM;
  atomic_init(running, 0);
  *inst = running;
  return CRB_OK;
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#define CREATE create
#include "sound.h"
