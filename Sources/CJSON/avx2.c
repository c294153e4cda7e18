/* The scan for processors with AVX2, which has half of the instructions. */
#include "internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,pclmul,popcnt"))), apply_to = function)
#define VARIANT(name) name##_avx2
#define CARRYLESS_MULTIPLICATION
#include "scan.h"
#include "outline.h"
#pragma clang attribute pop
#endif
