/* Forgets the state of calls that are cancelled. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct {
  char *note;
} attempt;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(attempt));
  attempt *a = *state;
  if (a && !a->note) a->note = malloc(512);
  return a && a->note ? CRB_CONTINUE : CRB_E_NOMEM;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  if (state) ((attempt *)state)->note = NULL;
}
static void release(void *inst, void *state) {
  (void)inst;
  free(((attempt *)state)->note);
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_CANCEL on_cancel
#define RELEASE release
#include "sound.h"
