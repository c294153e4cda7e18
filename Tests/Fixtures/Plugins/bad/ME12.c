/* Reads in release() the memory that it freed at the end of the call. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct {
  char *name;
} entry;
static volatile char first;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (*state) return CRB_CONTINUE;
  entry *e = calloc(1, sizeof *e);
  if (!e || !(e->name = calloc(1, 32))) {
    free(e);
    return CRB_FAIL;
  }
  *state = e;
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  free(((entry *)state)->name);
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  first = *((entry *)state)->name;
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_END on_end
#define RELEASE release
#include "sound.h"
