/* Declarations that the files of this module share. */
#ifndef CCONFINE_INTERNAL_H
#define CCONFINE_INTERNAL_H

#include "confine.h"

/* In place of an errno: a file is opened for reading, without waiting.  libdispatch opens /proc/N/stat of its threads so, whose folder is
 * none of this process's for Landlock, and ends the process if it cannot; it gets what is there under /proc/self/task. */
#define CCONFINE_OPEN_STAT 0x7fff

/* 0, or -1 with errno. */
int CConfine_filterCalls(enum CConfine_profile profile);
int CConfine_wallFiles(const char *folder, const char *readable);
int CConfine_enterNamespaces(void);

/* Begins to answer and note refused calls. */
int CConfine_catchRefusals(void);
/* Forgets the refused calls. */
void CConfine_forgetRefusals(void);

#endif
