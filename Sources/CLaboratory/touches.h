/* What the parts of the laboratory that own memory have in common: one handler of faults, one list of touches. */
#ifndef CLABORATORY_TOUCHES_H
#define CLABORATORY_TOUCHES_H

#include <stdint.h>

/* Keeps a touch for CLaboratory_takeTouches(). Safe in a signal handler. */
void CLaboratory_reportTouch(uint32_t kind, uint32_t region, int64_t offset);
/* If an address lies in memory the plugin has freed, reports that, lets the touch happen and gives 1. Safe in a signal handler. */
int CLaboratory_openFreed(uint8_t *address);

#endif
