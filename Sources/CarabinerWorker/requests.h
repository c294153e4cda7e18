#ifndef CARABINER_WORKER_REQUESTS_H
#define CARABINER_WORKER_REQUESTS_H

#include "worker.h"

struct request {
  struct request *next;
  uint64_t number;
  crb_self who;
  uint32_t library;
  int is_counted;
  void (*done)(void);
  void *user;
};

/* Returns NULL if `who` has `most` of them, or all have too many; UINT32_MAX: `who` may have any number. */
struct request *add_request(crb_self who, uint32_t library, uint32_t most, void (*done)(void), void *user);
/* Returns 0 if there is no such request. */
int take_request(uint64_t number, struct request *taken);
/* The error of a message.  Returns 0 if it has none. */
int read_error(struct reader message, crb_error *error);

#endif
