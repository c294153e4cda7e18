/* zlib, for messages that are compressed one by one. inflateInit2 and deflateInit2 are macros, which Swift cannot import. */
#pragma once
#include <zlib.h>

static inline int CZlib_inflateInit(z_stream *stream, int windowBits) { return inflateInit2(stream, windowBits); }

static inline int CZlib_deflateInit(z_stream *stream, int level, int windowBits) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}
