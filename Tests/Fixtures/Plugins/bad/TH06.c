/* Keeps its thread for a while when something failed. */
#include <carabiner.h>
#include <time.h>

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call, (void)state, (void)error;
  /* Its own time: a large step is one in which another process ran. */
  for (uint64_t spent = 0, last = now(), next; spent < 120000000u; last = next) {
    next = now();
    if (next - last < 1000000u) spent += next - last;
  }
  return CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
