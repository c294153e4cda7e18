/* Frees bytes the host has adopted before they are dropped. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const char variables[] = "{\"first\":1}";
static void nothing(void *user) { (void)user; }
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state && !(*state = malloc(sizeof variables))) return CRB_FAIL;
  memcpy(*state, variables, sizeof variables);
  crb_buf buffer = host->buf_adopt(self, *state, sizeof variables - 1, nothing, NULL);
  if (!buffer) return CRB_FAIL;
  return host->field_set(call, CRB_PART_VARIABLES, buffer) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}
static void release(void *inst, void *state) {
  (void)inst;
  *(volatile char *)state = 0;
  free(state);
}
#define MUTATES CRB_PART_VARIABLES
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#include "sound.h"
