/* A bounded queue of lines, and the thread that writes them. */
#ifndef AUDIT_LOG_WRITER_H
#define AUDIT_LOG_WRITER_H

#include <carabiner.h>

#include "sink.h"

typedef struct writer writer;

/* Starts the thread. Takes over the sink, also when it fails. NULL: no memory, or no thread. */
writer *writer_start(const crb_host *host, crb_self self, const sink *target, size_t queue_bytes);
/* Adds a line, with its line feed, or counts it as dropped if the queue is full. Never waits for the disk. [any] */
void writer_add(writer *w, const char *line, size_t length);
/* Writes the rest and ends the thread. */
void writer_stop(writer *w);

/* The time in UTC with milliseconds, as RFC 3339 defines it; 25 bytes. */
void format_time(char out[32]);

#endif
