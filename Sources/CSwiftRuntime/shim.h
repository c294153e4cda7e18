/* Functions of Swift's runtime that Swift code cannot call by name. */
#pragma once
#include <stddef.h>

__attribute__((swiftcall)) extern void *swift_task_alloc(size_t size);
__attribute__((swiftcall)) extern void swift_task_dealloc(void *address);

/* Takes memory from the current task's allocator and gives it back. The allocator keeps the block for the frames of async functions.
 * Without a current task, the behaviour is undefined. */
static inline void CSwiftRuntime_reserveTaskMemory(size_t bytes) { swift_task_dealloc(swift_task_alloc(bytes)); }
