/* Shared by the files of this module with handlers of fatal signals. */
#ifndef CTESTHOST_STACK_H
#define CTESTHOST_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Prepares the following functions for signal handlers. */
void CTestHost_prepareStacks(void);
/* Stores the instruction that a signal interrupted and the last bytes of the calls around it, the innermost first; without a context, the
 * calls around this one.  Returns how many there are, at most `capacity`. */
size_t CTestHost_calls(const void *context, uint64_t *out, size_t capacity);

/* Writes the stack of this thread to the record, if that is kept.  `context` is that of the handler of `signal`.  Returns whether it is. */
int CTestHost_noteStack(int signal, const void *context);

#endif
