#define _GNU_SOURCE
#include <stdlib.h>

#include "worker.h"

/* As Quarantine.swift: rule R3 lets a plugin read its views until it resumes its token, and the host may revoke that before. */
struct kept {
  struct kept *next;
  struct memory memory;
  crb_token reader;
  uint64_t until;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *first, **last = &first; /* the oldest is the first */
static _Atomic uint32_t count;

void keep_memory(struct memory *memory, crb_token reader, uint64_t until) {
  struct kept *kept = atomic_load(&count) < MOST_KEPT ? malloc(sizeof *kept) : NULL;
  if (!kept) {
    /* It stays mapped, and counts as memory of the plugin that does not resume. */
    *memory = (struct memory){0};
    return;
  }
  *kept = (struct kept){.memory = *memory, .reader = reader, .until = until};
  *memory = (struct memory){0};
  pthread_mutex_lock(&lock);
  *last = kept;
  last = &kept->next;
  atomic_fetch_add(&count, 1);
  pthread_mutex_unlock(&lock);
}

/* Frees what belongs to the reader or is overdue.  Returns when the next one is. */
static uint64_t sweep(crb_token reader, uint64_t now) {
  uint64_t soonest = UINT64_MAX;
  pthread_mutex_lock(&lock);
  for (struct kept **place = &first; *place;) {
    struct kept *kept = *place;
    if (kept->reader != reader && kept->until > now) {
      if (kept->until < soonest) soonest = kept->until;
      place = &kept->next;
      continue;
    }
    *place = kept->next;
    free_memory(&kept->memory);
    free(kept);
    atomic_fetch_sub(&count, 1);
  }
  for (last = &first; *last;) last = &(*last)->next;
  pthread_mutex_unlock(&lock);
  return soonest;
}

void note_resumed(crb_token reader) {
  if (atomic_load(&count)) sweep(reader, 0);
}

uint64_t sweep_kept(uint64_t now) { return atomic_load(&count) ? sweep(0, now) : UINT64_MAX; }
