#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* For older headers. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
enum { FIRST_DESCRIPTOR = 16 };

static int make_file(void) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int low = memfd_create("carabiner", flags | MFD_NOEXEC_SEAL);
  if (low < 0 && errno == EINVAL) low = memfd_create("carabiner", flags);
  if (low < 0) return -1;
  int file = fcntl(low, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR), code = errno;
  close(low);
  errno = code;
  return file;
}

int CCrossing_make(uint64_t arena, int isDown, void **map) {
  size_t size = CCROSSING_ARENA + (size_t)arena;
  int file = make_file();
  if (file < 0) return -1;
  void *mapped = MAP_FAILED;
  if (ftruncate(file, (off_t)size) == 0) mapped = mmap(NULL, size, isDown ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  /* From now on neither file can be cut short, and that of the host cannot be mapped for writing. */
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (isDown ? F_SEAL_FUTURE_WRITE : 0);
  if (mapped == MAP_FAILED || fcntl(file, F_ADD_SEALS, seals) != 0) {
    int code = errno;
    if (mapped != MAP_FAILED) munmap(mapped, size);
    close(file);
    errno = code;
    return -1;
  }
  if (isDown) {
    struct CCrossing_down *down = mapped;
    down->magic = CCROSSING_MAGIC;
    down->version = CCROSSING_VERSION;
    down->arena = arena;
  }
  *map = mapped;
  return file;
}

void CCrossing_unmap(const void *map, uint64_t arena) { munmap((void *)(uintptr_t)map, CCROSSING_ARENA + (size_t)arena); }

uint32_t CCrossing_post(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t tail, const struct CCrossing_post *post) {
  down->ring[tail % CCROSSING_RING] = *post;
  atomic_store_explicit(&down->processor, CCrossing_processor(), memory_order_relaxed);
  atomic_store(&down->tail, tail + 1);
  if (atomic_load(&up->sleeps)) CCrossing_wake(&down->tail);
  return tail + 1;
}

void CCrossing_setCrowded(struct CCrossing_down *down, int isCrowded) {
  atomic_store_explicit(&down->isCrowded, isCrowded != 0, memory_order_relaxed);
}

int CCrossing_look(const struct CCrossing_up *up, uint32_t slot, uint32_t generation, struct CCrossing_answer *answer) {
  const struct CCrossing_up_slot *from = &up->slots[slot];
  uint32_t state = atomic_load_explicit(&from->state, memory_order_acquire);
  if (state >> 1 != generation) return CCROSSING_NOT_YET;
  if (!(state & 1)) return CCROSSING_IS_PENDING;
  /* Reads each field once, because the worker may change it. */
  const volatile struct CCrossing_up_slot *once = from;
  *answer = (struct CCrossing_answer){once->verdict, once->flags, once->block, once->length, once->nanoseconds, once->began};
  return CCROSSING_ANSWERED;
}

static int has_come(const struct CCrossing_up *up, uint32_t slot, uint32_t generation) {
  return atomic_load_explicit(&up->slots[slot].state, memory_order_acquire) >> 1 == generation;
}

static void spin(const struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t slot, uint32_t generation, _Atomic uint32_t *budget) {
  uint32_t known = atomic_load_explicit(budget, memory_order_relaxed);
  static _Thread_local uint32_t waits;
  if (CCrossing_isHere(down, &up->processor, CCrossing_processor())) return;
  uint32_t spins = CCrossing_spins(known, &waits);
  for (uint32_t index = 0; index < spins; index++, CCrossing_pause()) {
    if (!has_come(up, slot, generation)) continue;
    atomic_store_explicit(budget, CCrossing_learnt(known, index), memory_order_relaxed);
    return;
  }
  atomic_store_explicit(budget, CCrossing_unlearnt(known), memory_order_relaxed);
}

int CCrossing_await(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t slot, uint32_t generation, uint64_t until,
                    uint32_t *budget, struct CCrossing_answer *answer) {
  /* Swift has no pointers to atomic numbers. */
  if (!has_come(up, slot, generation)) spin(down, up, slot, generation, (_Atomic uint32_t *)budget);
  unsigned yields = CCrossing_isCrowded(down) ? CCROSSING_HOST_YIELDS : 0;
  for (; yields > 0 && !has_come(up, slot, generation); yields--) sched_yield();
  const _Atomic uint32_t *state = &up->slots[slot].state;
  while (!has_come(up, slot, generation)) {
    uint64_t now = CCrossing_now();
    if (now >= until) break;
    atomic_store(&down->slots[slot].sleeps, generation);
    uint32_t old = atomic_load(state);
    if (old >> 1 != generation) CCrossing_sleep(state, old, until == UINT64_MAX ? until : until - now);
  }
  atomic_store_explicit(&down->slots[slot].sleeps, 0, memory_order_relaxed);
  return CCrossing_look(up, slot, generation, answer);
}

int CCrossing_announce(struct CCrossing_down *down, const struct CCrossing_up *up, uint32_t slot, uint32_t generation,
                       struct CCrossing_answer *answer) {
  atomic_store(&down->slots[slot].announce, generation);
  atomic_thread_fence(memory_order_seq_cst);
  return CCrossing_look(up, slot, generation, answer);
}

uint32_t CCrossing_asked(const struct CCrossing_up *up, uint32_t callback, uint32_t seen, struct CCrossing_question *copy) {
  const struct CCrossing_callback *from = &up->callbacks[callback];
  uint32_t asked = atomic_load_explicit(&from->asked, memory_order_acquire);
  if (asked == seen) return seen;
  const volatile struct CCrossing_callback *once = from;
  copy->request = once->request;
  copy->instance = once->instance;
  copy->argument = once->argument;
  copy->number = once->number;
  copy->block = once->block;
  copy->length = once->length;
  return asked;
}

void CCrossing_reply(struct CCrossing_down *down, uint32_t callback, uint32_t generation, int32_t status) {
  struct CCrossing_reply *reply = &down->replies[callback];
  reply->status = status;
  atomic_store(&reply->answered, generation);
  CCrossing_wake(&reply->answered);
}

uint32_t CCrossing_copyLines(const struct CCrossing_up *up, uint32_t generation, uint8_t *to) {
  const struct CCrossing_lines *lines = &up->lines;
  if (atomic_load_explicit(&lines->generation, memory_order_acquire) != generation) return 0;
  uint32_t length = atomic_load_explicit(&lines->length, memory_order_acquire);
  if (length > CCROSSING_LINES) length = CCROSSING_LINES;
  for (uint32_t index = 0; index < length; index++) to[index] = ((const volatile uint8_t *)lines->bytes)[index];
  return length;
}
