/* Memory that is given out piece by piece, zeroed, and taken back at once. */
#ifndef CARABINER_WORKER_MEMORY_H
#define CARABINER_WORKER_MEMORY_H

#include <stddef.h>

struct memory {
  struct block *newest;
  size_t used, total;
};

/* NULL if that would be more than `limit` in all, or if there is none. */
void *allocate(struct memory *memory, size_t count, size_t alignment, size_t limit);
/* Takes everything back.  A small first block is kept for the next use. */
void reset_memory(struct memory *memory);
void free_memory(struct memory *memory);
/* Whether anything was given out since the last reset. */
int is_used(const struct memory *memory);

#endif
