/* Keeps a kilobyte of every result. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
  struct node *next;
  char copy[1024];
} node;
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call;
  node *n = result->flags & CRB_RESULT_HAS_NEXT || result->seq > 3 ? malloc(sizeof *n) : NULL;
  if (!n) return CRB_CONTINUE;
  memset(n->copy, 1, sizeof n->copy);
  n->next = *(node **)state;
  *(node **)state = n;
  return CRB_CONTINUE;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(node *));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static void release(void *inst, void *state) {
  (void)inst;
  for (node *n = *(node **)state, *next; n; n = next) {
    next = n->next;
    free(n);
  }
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define RELEASE release
#include "sound.h"
