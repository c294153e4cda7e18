/* Facts about the running program that Swift cannot ask for. */
#ifndef CPROGRAM_H
#define CPROGRAM_H

/* The number of arguments, with the program's name.  Swift finds none where /proc is missing, and where a library that was loaded with
 * LD_PRELOAD has changed the environment. */
int CProgram_argumentCount(void);

/* The argument with this number, from 0. */
const char *CProgram_argument(int index);

/* The commit and the version of Swift that the program was built from; empty if the build did not say. */
const char *CProgram_commit(void);
const char *CProgram_swiftVersion(void);

#endif
