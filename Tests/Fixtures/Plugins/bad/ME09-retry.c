/* Forgets what it kept of the attempt before a retry. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct {
  char *note;
} attempt;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(attempt));
  attempt *a = *state;
  if (!a) return CRB_E_NOMEM;
  a->note = malloc(512);
  return a->note ? CRB_CONTINUE : CRB_E_NOMEM;
}
static void release(void *inst, void *state) {
  (void)inst;
  free(((attempt *)state)->note);
  free(state);
}
#define HTTP_ON_REQUEST on_request
#define RELEASE release
#define STAGES STAGE_HTTP
#include "sound.h"
