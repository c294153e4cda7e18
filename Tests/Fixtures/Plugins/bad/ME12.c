/* Reads in release() the memory that it freed at the end of the call. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct {
  char *name;
  int is_over;
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
  entry *e = state;
  free(e->name);
  e->is_over = 1;
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  entry *e = state;
  first = *e->name;
  if (!e->is_over) free(e->name);
  free(e);
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_END on_end
#define RELEASE release
#include "sound.h"
