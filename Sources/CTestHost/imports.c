#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator.h"
#include "test_host.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#define ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#define ABSOLUTE R_AARCH64_ABS64
#endif

/* The addresses that the dynamic linker filled in for one library, from the tables of the library. */
struct imports {
  ElfW(Addr) base;
  const ElfW(Rela) * plain, *jumps;
  size_t plain_count, jump_count;
  const ElfW(Sym) * symbols;
  const char *names;
};

static int read_imports(const void *inside, struct imports *out) {
  Dl_info info;
  struct link_map *map = NULL;
  memset(out, 0, sizeof *out);
  if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return 0;
  out->base = map->l_addr;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_RELA: out->plain = (const void *)entry->d_un.d_ptr; break;
      case DT_RELASZ: out->plain_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_JMPREL: out->jumps = (const void *)entry->d_un.d_ptr; break;
      case DT_PLTRELSZ: out->jump_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_SYMTAB: out->symbols = (const void *)entry->d_un.d_ptr; break;
      case DT_STRTAB: out->names = (const void *)entry->d_un.d_ptr; break;
      default: break;
    }
  }
  return out->symbols && out->names;
}

/* Writes to a slot.  RELRO has made the table read-only. */
static int put(void **slot, void *value) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)((uintptr_t)slot / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return 0;
  *slot = value;
  return 1;
}

static int replace(const struct imports *in, const ElfW(Rela) * list, size_t count, const char *name, void *by, void **old) {
  int replaced = 0;
  for (size_t index = 0; list && index < count; index++) {
    uint32_t type = (uint32_t)ELF64_R_TYPE(list[index].r_info);
    if (type != JUMP_SLOT && type != GLOB_DAT && type != ABSOLUTE) continue;
    if (strcmp(in->names + in->symbols[ELF64_R_SYM(list[index].r_info)].st_name, name) != 0) continue;
    void **slot = (void **)(in->base + list[index].r_offset);
    void *before = *slot;
    if (!put(slot, by)) continue;
    if (old && !*old) *old = before;
    replaced++;
  }
  return replaced;
}

int CTestHost_replaceImport(const void *inside, const char *name, void *replacement, void **original) {
  struct imports in;
  if (original) *original = NULL;
  if (!read_imports(inside, &in)) return 0;
  return replace(&in, in.plain, in.plain_count, name, replacement, original) +
         replace(&in, in.jumps, in.jump_count, name, replacement, original);
}

int CTestHost_replaceAllocator(const void *inside, const struct allocator *by) {
  const struct {
    const char *name;
    void *by;
  } replacements[] = {
      {"malloc", (void *)by->allocate},
      {"calloc", (void *)by->allocate_zeroed},
      {"realloc", (void *)by->reallocate},
      {"aligned_alloc", (void *)by->allocate_aligned},
      {"posix_memalign", (void *)by->allocate_into},
      {"strdup", (void *)by->copy_text},
      {"strndup", (void *)by->copy_text_part},
      {"_Znwm", (void *)by->construct},
      {"_Znam", (void *)by->construct},
      {"free", (void *)by->release},
      {"_ZdlPv", (void *)by->release},
      {"_ZdaPv", (void *)by->release},
      {"_ZdlPvm", (void *)by->release_sized},
      {"_ZdaPvm", (void *)by->release_sized},
  };
  int places = 0;
  for (size_t index = 0; index < sizeof replacements / sizeof *replacements; index++) {
    if (!replacements[index].by) continue;
    places += CTestHost_replaceImport(inside, replacements[index].name, replacements[index].by, NULL);
  }
  return places;
}

static _Atomic uint64_t allocations;
static _Atomic uint64_t failing;

/* Counts an allocation, and returns whether it must fail.  Failed calls are counted too. */
static int is_refused(void) {
  uint64_t number = atomic_fetch_add(&allocations, 1) + 1;
  uint64_t interval = atomic_load(&failing);
  return interval && number % interval == 0;
}

static void *count_malloc(size_t size) { return is_refused() ? NULL : malloc(size); }
static void *count_calloc(size_t count, size_t size) { return is_refused() ? NULL : calloc(count, size); }
static void *count_realloc(void *memory, size_t size) { return is_refused() ? NULL : realloc(memory, size); }
static void *count_aligned(size_t alignment, size_t size) { return is_refused() ? NULL : aligned_alloc(alignment, size); }
static int count_memalign(void **out, size_t alignment, size_t size) {
  return is_refused() ? 12 /* ENOMEM */ : posix_memalign(out, alignment, size);
}
static char *count_strdup(const char *text) { return is_refused() ? NULL : strdup(text); }

int CTestHost_watchAllocations(const void *inside) {
  return CTestHost_replaceAllocator(
      inside, &(struct allocator){.allocate = count_malloc,
                                  .allocate_zeroed = count_calloc,
                                  .reallocate = count_realloc,
                                  .allocate_aligned = count_aligned,
                                  .allocate_into = count_memalign,
                                  .copy_text = count_strdup});
}

uint64_t CTestHost_allocations(void) { return atomic_load(&allocations); }
void CTestHost_failAllocations(uint64_t interval) {
  atomic_store(&allocations, 0);
  atomic_store(&failing, interval);
}

static int (*is_of_host)(const void *);

static void ask_free(void *memory) {
  if (memory && is_of_host(memory)) return;
  free(memory);
}
static void ask_free_sized(void *memory, size_t size) {
  (void)size;
  ask_free(memory);
}

int CTestHost_watchFrees(const void *inside, int (*is_ours)(const void *)) {
  is_of_host = is_ours;
  return CTestHost_replaceAllocator(inside, &(struct allocator){.release = ask_free, .release_sized = ask_free_sized});
}
