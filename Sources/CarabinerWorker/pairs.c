/* The pairs of memories of the lanes, and the files of plugins, as the host gives them. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "worker.h"

struct lane control, lanes[CCROSSING_MOST_LANES];
uint32_t lane_count;
static uint32_t file_count;

void wake_control(void) { CCrossing_attend(control.down, control.up, &control.attention); }

uint32_t plugin_count(void) { return file_count; }
uint32_t plugin_descriptor(uint32_t number) { return CCROSSING_FIRST_PAIR + 2 * (lane_count + 1) + number; }

static const char *open_pair(struct lane *lane, uint32_t number, uint64_t arena) {
  int descriptor = (int)(CCROSSING_FIRST_PAIR + 2 * number);
  const struct CCrossing_down *down = CCrossing_map(descriptor, arena, 1);
  struct CCrossing_up *up = CCrossing_map(descriptor + 1, arena, 0);
  close(descriptor);
  close(descriptor + 1);
  if (!down || !up) return "its memory cannot be mapped";
  if (down->magic != CCROSSING_MAGIC || down->version != CCROSSING_VERSION || down->arena != arena) return "the host has another version";
  return open_lane(lane, down, up) == 0 ? NULL : "there is no memory for a lane, or the arena is too small";
}

const char *open_pairs(uint32_t count, uint64_t arena, uint32_t plugins) {
  lane_count = count;
  file_count = plugins;
  const char *wrong = open_pair(&control, 0, arena);
  for (uint32_t number = 0; number < count && !wrong; number++) wrong = open_pair(&lanes[number], number + 1, arena);
  return wrong;
}

uint32_t kept_descriptors(int *kept) {
  uint32_t count = 0;
  for (int descriptor = 0; descriptor <= CCROSSING_BELL; descriptor++) kept[count++] = descriptor;
  for (uint32_t number = 0; number < file_count; number++) kept[count++] = (int)plugin_descriptor(number);
  return count;
}

void note_refusal(int64_t number, uint64_t address) {
  if (CCrossing_refuse(control.up, number, address)) ring_bell();
}

void wait_for_lanes(uint64_t nanoseconds) {
  enum { NAP = 50000 };
  uint64_t now = CCrossing_now(), end = nanoseconds > UINT64_MAX - now ? UINT64_MAX : now + nanoseconds;
  for (uint32_t number = 0; number < lane_count; number++) {
    struct lane *lane = &lanes[number];
    uint32_t tail = atomic_load(&lane->down->tail);
    while ((int32_t)(atomic_load(&lane->finished) - tail) < 0 && CCrossing_now() < end) {
      nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    }
  }
}
