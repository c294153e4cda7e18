/* Where lines go: a file that is reopened and rotated, or the socket of syslog. Only the writer's thread uses it after sink_open(). */
#ifndef AUDIT_LOG_SINK_H
#define AUDIT_LOG_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAXIMUM_PATH = 4000, MAXIMUM_KEPT = 100 };

typedef struct sink {
  int descriptor; /* -1: not open */
  int is_syslog;
  char path[MAXIMUM_PATH + 1];
  /* Of a file. */
  uint64_t maximum_bytes; /* 0: no rotation */
  unsigned kept;
  uint64_t size;
  dev_t device;
  ino_t inode;
} sink;

/* Opens the sink. Returns 0, or the number of an error; ENOTSUP: the path is not a regular file. */
int sink_open(sink *s);
void sink_close(sink *s);
/* Writes whole lines. Returns the number of lines that were lost, and stores the number of the last error. */
size_t sink_write(sink *s, const char *lines, size_t length, int *error);

#endif
