/* Declarations that the files of this module share. */
#ifndef CCONFINE_INTERNAL_H
#define CCONFINE_INTERNAL_H

#include "confine.h"

/* Used as an errno: a file is opened for reading, without blocking.  libdispatch opens /proc/N/stat of its threads this way, which
 * Landlock does not count as files of this process, and ends the process on failure.  The handler opens /proc/self/task/N/stat. */
#define CCONFINE_OPEN_STAT 0x7fff

/* The files that every confined process may read, and the devices that it may also write to.  NULL is the last. */
extern const char *const CConfine_libraries[];
extern const char *const CConfine_sinks[];

/* Each returns 0, or -1 after it noted the reason. */
int CConfine_filterCalls(enum CConfine_profile profile, int has_wall);
int CConfine_wallFiles(const struct CConfine_settings *settings, int has_own_root);
int CConfine_enterNamespaces(const struct CConfine_settings *settings);
int CConfine_dropCapabilities(void);
/* Makes the root of the copy; returns 0, or -1 with the reason. */
int CConfine_makeRoot(const char *readable, struct CConfine_failure *why);

/* Each tries what its layer forbids; returns 0 if that failed, or -1 after it noted the reason. */
int CConfine_tryCalls(void);
int CConfine_tryFiles(void);
int CConfine_tryPrivileges(void);
int CConfine_tryLimits(const struct CConfine_settings *settings);
int CConfine_tryDescriptors(const struct CConfine_settings *settings);
int CConfine_tryUser(void);
int CConfine_tryNamespaces(const struct CConfine_settings *settings, const struct CConfine_place *before);
int CConfine_tryRoot(const struct CConfine_settings *settings);

/* Notes why a layer is not in force: a failed step with its errno, or a try that should have failed with 0.  The first reason is
 * kept.  Returns -1. */
int CConfine_miss(uint32_t layer, const char *step, int code);
void CConfine_forgetReasons(void);

/* Installs the handler that answers and notes refused calls. */
int CConfine_catchRefusals(void);
/* Forgets the refused calls. */
void CConfine_forgetRefusals(void);

#endif
