/* Between the words of a plugin that grow evenly (counters.c) and the steps through its hooks (steps.c). */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* Prepares for steps through the library that holds `inside`; 0 if they are not possible on this processor. */
int CTestHost_openSteps(const void *inside);
/* Watches a word during steps.  Further ones than CTESTHOST_COUNTERS_MAX are not watched. */
void CTestHost_addCounter(const uint64_t *word);
/* No longer watches the words of some memory, which may be freed. */
void CTestHost_dropCounters(const uint64_t *start, size_t words);
size_t CTestHost_counterCount(void);

#endif
