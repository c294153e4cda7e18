/* The choice of the code for the processor. */
#include "internal.h"

#if defined(__x86_64__)
/* The processor is asked before `main`, so that these are a load and a comparison. */
#define HAS_AVX2                                                                                                              \
  (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && \
   __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt"))
#define CALL(name, ...) (HAS_AVX2 ? name##_avx2(__VA_ARGS__) : name##_portable(__VA_ARGS__))
#else
#define CALL(name, ...) name##_portable(__VA_ARGS__)
#endif

size_t CJSON_mostEntries(const uint8_t *bytes, size_t count) { return CALL(CJSON_mostEntries, bytes, count); }

ptrdiff_t CJSON_record(const uint8_t *bytes, size_t count, size_t deepest, struct CJSON_entry *entries, size_t most) {
  return CALL(CJSON_record, bytes, count, deepest, entries, most);
}

int CJSON_locate(const uint8_t *bytes, size_t count, size_t deepest, CJSON_visit visit, void *context) {
  return CALL(CJSON_locate, bytes, count, deepest, visit, context);
}

bool CJSON_follow(struct CJSON_outline *outline, const uint8_t *bytes, size_t count) { return CALL(CJSON_follow, outline, bytes, count); }
