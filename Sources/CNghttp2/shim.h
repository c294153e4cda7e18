/* nghttp2, for HTTP/2 from clients, and the functions that not each version has. */
#pragma once
#include <nghttp2/nghttp2.h>

/* Security updates added these functions, also to older versions. A weak reference is null if the library does not have one. */
extern void nghttp2_option_set_max_continuations(nghttp2_option *option, size_t count) __attribute__((weak));
extern void nghttp2_option_set_stream_reset_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate) __attribute__((weak));

/* Swift cannot ask whether a weak function exists. */
static inline void CNghttp2_setMaximumContinuations(nghttp2_option *option, size_t count) {
  if (nghttp2_option_set_max_continuations) nghttp2_option_set_max_continuations(option, count);
}
static inline void CNghttp2_setResetRate(nghttp2_option *option, uint64_t burst, uint64_t rate) {
  if (nghttp2_option_set_stream_reset_rate_limit) nghttp2_option_set_stream_reset_rate_limit(option, burst, rate);
}
