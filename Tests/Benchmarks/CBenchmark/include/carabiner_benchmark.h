/* C functions for benchmarks: a count of allocations, and C libraries for comparison. */
#ifndef CARABINER_BENCHMARK_H
#define CARABINER_BENCHMARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of calls of malloc, calloc, realloc and their aligned variants in this process. Exact while one thread runs at a time. */
uint64_t bench_allocations(void);

/* CPU time of this process in nanoseconds. */
uint64_t bench_cpu_ns(void);

/* CPU time of another process in nanoseconds; 0 if it has ended. */
uint64_t bench_process_cpu_ns(int32_t process);

/* CPU time of all ended processes this one started and waited for, in nanoseconds. */
uint64_t bench_children_cpu_ns(void);

/* A clock that only goes forward, in nanoseconds. */
uint64_t bench_wall_ns(void);

/* Resident memory of this process in bytes; 0 if unknown. */
uint64_t bench_rss_bytes(void);

/* Sends `total` POSTs of `body` to `url` with libcurl's multi interface on this thread, `concurrency` at a time.
 * Returns the number of failed requests. */
long bench_libcurl(const char *url, const char *body, long total, long concurrency);

/* Walks a JSON text with simdjson: `on_demand` reads only the values under "data"; otherwise the whole text is parsed.
 * Returns the number of values seen, or -1 if the text is not valid JSON. bench_json_padding readable bytes must follow it. */
long bench_simdjson(const char *text, size_t length, int on_demand);
extern const size_t bench_json_padding;

/* Sends `total` messages to a child process over a SEQPACKET socket, `in_flight` at a time. The child returns each one.
 * `cpu_ns` gets the CPU time of both processes. Returns 0, or an error number. */
int bench_seqpacket(long total, long in_flight, size_t bytes, uint64_t *cpu_ns);

/* The number of occurrences of the byte, found with memchr. */
size_t bench_memchr(const void *bytes, size_t length, int byte);

#ifdef __cplusplus
}
#endif
#endif
