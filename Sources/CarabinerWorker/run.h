/* The worker as the host uses it: pairs of lanes, and files of plugins. */
#ifndef CARABINER_WORKER_RUN_H
#define CARABINER_WORKER_RUN_H

#include <stdint.h>

/* pairs.c */
/* Maps the pairs.  Returns NULL, or what is wrong.  Before the process is confined. */
const char *open_pairs(uint32_t lanes, uint64_t arena, uint32_t plugins);
/* The descriptors that stay open: up to 5 + CCROSSING_MOST_PLUGINS.  Returns how many. */
uint32_t kept_descriptors(int *kept);
/* Makes the host note a refused system call.  Async-signal-safe. */
void note_refusal(int64_t number, uint64_t address);

/* run.c: starts the lanes, and takes posts until the end of the process. */
_Noreturn void run_pairs(void);

#endif
