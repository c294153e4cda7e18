/* zstd, for whole responses. */
#pragma once
#include <zstd.h>
