/* Declarations that the parts of the laboratory with memory share: one handler of faults, one list of accesses. */
#ifndef CLABORATORY_TOUCHES_H
#define CLABORATORY_TOUCHES_H

#include <stdint.h>

/* Keeps an access for CLaboratory_takeTouches(). Safe in a signal handler. */
void CLaboratory_reportTouch(uint32_t kind, uint32_t region, int64_t offset);
/* If an address lies in memory that the plugin has freed, reports and allows the access and returns 1. Safe in a signal handler. */
int CLaboratory_openFreed(uint8_t *address);

#endif
