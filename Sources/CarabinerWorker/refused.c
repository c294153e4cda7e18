/* The system calls that were refused to this process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "confine.h"
#include "worker.h"

enum { MOST = 512 };

/* The name of a mapped file.  Plugins are mapped from descriptors. */
static const char *file_of(const Dl_info *info) {
  static const char descriptors[] = "/proc/self/fd/";
  if (!info->dli_fname) return "an unknown file";
  if (!strncmp(info->dli_fname, descriptors, sizeof descriptors - 1)) return "the plugin";
  const char *slash = strrchr(info->dli_fname, '/');
  return slash ? slash + 1 : info->dli_fname;
}

static void describe_place(uint64_t address, char *text, size_t capacity) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)address, &info) && info.dli_fbase) {
    snprintf(text, capacity, "%s + %#llx", file_of(&info), (unsigned long long)(address - (uintptr_t)info.dli_fbase));
  } else {
    snprintf(text, capacity, "%#llx, which is in no library", (unsigned long long)address);
  }
}

void list_refusals(struct records *answer) {
  static struct CConfine_refusal refused[MOST];
  size_t count = CConfine_refusals(refused, MOST);
  for (size_t index = 0; index < count && index < MOST; index++) {
    char place[512], number[32];
    describe_place(refused[index].address, place, sizeof place);
    const char *name = CConfine_callName(refused[index].number);
    snprintf(number, sizeof number, "system call %lld", (long long)refused[index].number);
    struct CCrossing_record record = {
        .kind = CCROSSING_REFUSAL, .a = (uint32_t)refused[index].number, .b = !name, .number = refused[index].count};
    add_record(answer, &record, text_of(name ? name : number), text_of(place));
  }
}
