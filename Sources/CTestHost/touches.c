#include <stdatomic.h>
#include <string.h>

#include "stack.h"
#include "test_host.h"
#include "touches.h"

#define TOUCHES_MAX 64

static struct CTestHost_touch touches[TOUCHES_MAX];
static _Atomic size_t touch_count;

void CTestHost_reportTouch(uint32_t kind, uint32_t number, int64_t offset, const void *context) {
  size_t index = atomic_fetch_add(&touch_count, 1);
  if (index >= TOUCHES_MAX) return;
  touches[index] = (struct CTestHost_touch){kind, number, offset, {0}};
  CTestHost_calls(context, touches[index].calls, CTESTHOST_TOUCH_CALLS);
}

size_t CTestHost_takeTouches(struct CTestHost_touch *out, size_t capacity) {
  size_t count = atomic_exchange(&touch_count, 0);
  if (count > TOUCHES_MAX) count = TOUCHES_MAX;
  if (count > capacity) count = capacity;
  memcpy(out, touches, count * sizeof *out);
  return count;
}
