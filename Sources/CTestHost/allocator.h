/* The functions by which a plugin allocates, replaced together. */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include <stddef.h>

/* NULL for a function that is not replaced. */
struct allocator {
  void *(*allocate)(size_t size);
  void *(*allocate_zeroed)(size_t count, size_t size);
  void *(*reallocate)(void *memory, size_t size);
  void *(*allocate_aligned)(size_t alignment, size_t size);
  int (*allocate_into)(void **out, size_t alignment, size_t size);
  char *(*copy_text)(const char *text);
  char *(*copy_text_part)(const char *text, size_t most);
  void *(*construct)(size_t size); /* operator new, which never returns NULL */
  void (*release)(void *memory);   /* free(), and operator delete: that of libstdc++ is free() */
  void (*release_sized)(void *memory, size_t size);
};

/* Makes the library that holds `inside` call these functions; returns how many places changed. */
int CTestHost_replaceAllocator(const void *inside, const struct allocator *by);

#endif
