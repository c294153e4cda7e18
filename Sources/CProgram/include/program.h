/* Facts about the running program that Swift cannot ask for. */
#ifndef CPROGRAM_H
#define CPROGRAM_H

/* The number of arguments, with the program's name.  Swift reads the arguments from /proc, and finds none where it is missing. */
int CProgram_argumentCount(void);

/* The commit and the version of Swift that the program was built from; empty if the build did not say. */
const char *CProgram_commit(void);
const char *CProgram_swiftVersion(void);

#endif
