/* Declarations that the files of this module share. */
#ifndef CCONFINE_INTERNAL_H
#define CCONFINE_INTERNAL_H

#include "confine.h"

/* Used as an errno: a file is opened for reading, without blocking.  libdispatch opens /proc/N/stat of its threads this way, which
 * Landlock does not count as files of this process, and ends the process on failure.  The handler opens /proc/self/task/N/stat. */
#define CCONFINE_OPEN_STAT 0x7fff

/* Each returns 0, or -1 with errno. */
int CConfine_filterCalls(enum CConfine_profile profile);
int CConfine_wallFiles(const char *folder, const char *readable);
int CConfine_enterNamespaces(void);

/* Installs the handler that answers and notes refused calls. */
int CConfine_catchRefusals(void);
/* Forgets the refused calls. */
void CConfine_forgetRefusals(void);

#endif
