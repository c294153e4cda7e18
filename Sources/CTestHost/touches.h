/* Declarations that the memory parts of the test host share: one fault handler, one list of accesses. */
#ifndef CTESTHOST_TOUCHES_H
#define CTESTHOST_TOUCHES_H

#include <stdint.h>

/* Keeps an access for CTestHost_takeTouches(). Safe in a signal handler.  `context` is that of the handler; NULL without one. */
void CTestHost_reportTouch(uint32_t kind, uint32_t region, int64_t offset, const void *context);
/* If an address lies in memory that the plugin has freed, reports and allows the access and returns 1. Safe in a signal handler. */
int CTestHost_openFreed(uint8_t *address, const void *context);

#endif
