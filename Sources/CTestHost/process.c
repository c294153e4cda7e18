#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "test_host.h"

uint64_t CTestHost_floatControl(void) {
#if defined(__x86_64__)
  uint32_t vector = __builtin_ia32_stmxcsr();
  uint16_t old = 0;
  __asm__ volatile("fnstcw %0" : "=m"(old));
  /* The low six bits are status flags. */
  return (uint64_t)(vector & ~0x3Fu) << 16 | old;
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

size_t CTestHost_freeThreadKeys(void) {
  /* PTHREAD_KEYS_MAX of libc. */
  static pthread_key_t keys[1024];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  size_t count = 0;
  pthread_mutex_lock(&lock);
  while (count < sizeof keys / sizeof *keys && pthread_key_create(&keys[count], NULL) == 0) count++;
  for (size_t index = 0; index < count; index++) pthread_key_delete(keys[index]);
  pthread_mutex_unlock(&lock);
  return count;
}

const void *CTestHost_environment(void) { return environ; }

static uint64_t mix(uint64_t hash, uint64_t value) {
  /* FNV-1a, a word at a time. */
  return (hash ^ value) * 0x100000001B3u;
}

uint64_t CTestHost_signalAction(int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  if (sigaction(signal, NULL, &action) != 0) return 0;
  return mix(mix(0xCBF29CE484222325u, (uintptr_t)action.sa_sigaction), (uint32_t)action.sa_flags);
}

uint64_t CTestHost_signalStack(void) {
  stack_t stack = {0};
  if (sigaltstack(NULL, &stack) != 0 || stack.ss_flags & SS_DISABLE) return 0;
  return mix(mix(0xCBF29CE484222325u, (uintptr_t)stack.ss_sp), stack.ss_size);
}

uint32_t CTestHost_intervalTimers(void) {
  uint32_t armed = 0;
  for (int timer = ITIMER_REAL; timer <= ITIMER_PROF; timer++) {
    struct itimerval left;
    memset(&left, 0, sizeof left);
    if (getitimer((__itimer_which_t)timer, &left) == 0 && (left.it_value.tv_sec || left.it_value.tv_usec)) armed |= 1u << timer;
  }
  return armed;
}

struct names {
  char *next;
  size_t room;
  uint64_t loaded;
};

static int add_name(struct dl_phdr_info *info, size_t size, void *context) {
  struct names *names = context;
  if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof info->dlpi_adds) names->loaded = info->dlpi_adds;
  size_t length = strlen(info->dlpi_name);
  if (length == 0 || length + 1 >= names->room) return 0;
  memcpy(names->next, info->dlpi_name, length);
  names->next[length] = '\n';
  names->next[length + 1] = 0;
  names->next += length + 1;
  names->room -= length + 1;
  return 0;
}

uint64_t CTestHost_libraries(char *out, size_t capacity) {
  struct names names = {out, capacity, 0};
  if (capacity) *out = 0;
  dl_iterate_phdr(add_name, &names);
  return names.loaded;
}
