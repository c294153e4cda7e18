/* Contains a self-test that fails. */
#include <carabiner.h>
#include <string.h>
static const char *test_name(uint32_t n) { return n == 0 ? "one and one are two" : "two and two are five"; }
static crb_status run_test(void *inst, uint32_t n, crb_error *why) {
  (void)inst;
  if (n == 0) return CRB_OK;
  why->message = (crb_view){(const uint8_t *)"they are four", 13};
  return CRB_E_STATE;
}
static const crb_selftest tests = {.size = sizeof tests, .count = 2, .name = test_name, .run = run_test};
static const void *extension(void *inst, const char *id) {
  (void)inst;
  return strcmp(id, "crb.selftest/1") == 0 ? &tests : NULL;
}
#define EXTENSION extension
#include "sound.h"
