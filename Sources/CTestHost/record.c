#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_host.h"

int CTestHost_newRecord(void) {
  int descriptor = memfd_create("carabiner-flight-record", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  /* The size is sealed: if a child truncated the record, the supervisor would read beyond its end and die. */
  if (ftruncate(descriptor, sizeof(struct CTestHost_memory)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

/* In a process without a supervisor, the descriptor may be of any file. */
static int is_record(int descriptor) {
  struct stat status;
  int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(descriptor, &status) != 0) return 0;
  return (size_t)status.st_size == sizeof(struct CTestHost_memory);
}

struct CTestHost_record *CTestHost_mapRecord(int descriptor) {
  if (!is_record(descriptor)) return NULL;
  void *memory = mmap(NULL, sizeof(struct CTestHost_memory), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void CTestHost_unmapRecord(struct CTestHost_record *record) { munmap(record, sizeof(struct CTestHost_memory)); }

void CTestHost_note(char field[CTESTHOST_TEXT_MAX], const uint8_t *text, size_t count) {
  if (count > CTESTHOST_TEXT_MAX - 1) count = CTESTHOST_TEXT_MAX - 1;
  /* The terminator is written first, so a concurrent reader finds a shorter text, but never one without an end. */
  field[count] = 0;
  memcpy(field, text, count);
}
