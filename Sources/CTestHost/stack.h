/* Shared by the files of this module with handlers of fatal signals. */
#ifndef CTESTHOST_STACK_H
#define CTESTHOST_STACK_H

/* Writes the stack of this thread to the record, if that is kept.  `context` is that of the handler of `signal`.  Returns whether it is. */
int CTestHost_noteStack(int signal, const void *context);

#endif
