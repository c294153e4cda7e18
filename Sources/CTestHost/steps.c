/* Steps through the hooks of a plugin, one instruction after the other, to see which one changes a counter.
 *
 * An instruction without LOCK that adds to a word, or a load and a later store of it, loses what another thread adds at the same
 * moment.  That is so in every run, so it is found without a second thread, and without a build for a sanitizer. */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "counters.h"
#include "test_host.h"

static const uint64_t *counters[CTESTHOST_COUNTERS_MAX];
static size_t count;

void CTestHost_addCounter(const uint64_t *word) {
  if (count < CTESTHOST_COUNTERS_MAX) counters[count++] = word;
}

void CTestHost_dropCounters(const uint64_t *start, size_t words) {
  if (!start) count = 0;
  for (size_t index = 0; index < count; index++) {
    if (counters[index] >= start && counters[index] < start + words) counters[index] = NULL;
  }
}

size_t CTestHost_counterCount(void) { return count; }

#if defined(__x86_64__)

#define TRAP_FLAG 0x100

/* How the next instruction uses memory. */
struct instruction {
  uintptr_t address;
  size_t width;    /* 0: no memory operand that matters */
  int is_read, is_changed, is_locked, is_return;
};

struct span {
  uintptr_t start, end;
};
static struct span plugin, program;

static int is_in(const struct span *span, uintptr_t address) { return address >= span->start && address < span->end; }

static _Thread_local struct {
  int is_on, is_inside, has_lock;
  struct instruction next;
  uintptr_t at;        /* the address of `next`; 0: not known */
  uintptr_t back;      /* where the plugin continues after a function of the host */
  uint64_t last[CTESTHOST_COUNTERS_MAX];
  uint64_t read, unlocked;
} steps;

/* A function of the host returns to this instruction, and not to the plugin. */
extern const uint8_t CTestHost_back[];
__asm__(".text\n.hidden CTestHost_back\n.globl CTestHost_back\nCTestHost_back:\n  int3\n  ud2\n");

static uint64_t register_of(const greg_t *all, unsigned number) {
  static const int names[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return (uint64_t)all[names[number]];
}

static int32_t signed_at(const uint8_t *bytes, unsigned size) {
  if (size == 1) return (int8_t)*bytes;
  int32_t value = 0;
  if (size == 4) memcpy(&value, bytes, sizeof value);
  return value;
}

/* How many bytes of an immediate follow the operand. */
static unsigned immediate(unsigned code, unsigned which, int is_short) {
  switch (code) {
    case 0x80: case 0x83: case 0x6B: case 0xC0: case 0xC1: case 0xC6: return 1;
    case 0xF6: return which < 2 ? 1 : 0;
    case 0xF7: return which >= 2 ? 0 : is_short ? 2 : 4;
    case 0x81: case 0x69: case 0xC7: return is_short ? 2 : 4;
    default: return 0;
  }
}

static uintptr_t operand(const uint8_t *mode, unsigned rex, const greg_t *all, unsigned behind) {
  unsigned kind = mode[0] >> 6, base = mode[0] & 7, size = kind == 1 ? 1 : kind == 2 ? 4 : 0;
  const uint8_t *next = mode + 1;
  uint64_t sum = 0;
  if (base == 4) {
    unsigned scale = next[0] >> 6, index = (next[0] >> 3 & 7) | (rex & 2 ? 8 : 0);
    base = next[0] & 7;
    if (index != 4) sum += register_of(all, index) << scale;
    next++;
    if (base == 5 && kind == 0) return sum + (uint64_t)(int64_t)signed_at(next, 4);
  } else if (base == 5 && kind == 0) {
    /* From the next instruction. */
    return (uintptr_t)next + 4 + behind + (uint64_t)(int64_t)signed_at(next, 4);
  }
  return sum + register_of(all, base | (rex & 1 ? 8 : 0)) + (uint64_t)(int64_t)signed_at(next, size);
}

/* Only the forms that compilers use for counters; another one has no width. */
static struct instruction decode(const uint8_t *bytes, const greg_t *all) {
  struct instruction result = {0};
  int is_short = 0, is_of_thread = 0;
  unsigned rex = 0;
  for (;; bytes++) {
    if (*bytes == 0xF0) result.is_locked = 1;
    else if (*bytes == 0x66) is_short = 1;
    else if (*bytes == 0x64 || *bytes == 0x65) is_of_thread = 1;
    else if (*bytes != 0xF2 && *bytes != 0xF3 && *bytes != 0x2E && *bytes != 0x3E) break;
  }
  if ((*bytes & 0xF0) == 0x40) rex = *bytes++;
  unsigned code = *bytes++, which = *bytes >> 3 & 7, is_register = *bytes >> 6 == 3;
  result.is_return = code == 0xC3 || code == 0xC2;
  if (code == 0x0F) {
    /* movzx, movsx, imul, and the loads of vector registers */
    code = *bytes++;
    is_register = *bytes >> 6 == 3;
    int is_vector = code == 0x10 || code == 0x12 || code == 0x16 || code == 0x28 || code == 0x6F || code == 0x7E || code == 0xD4;
    int is_move = code == 0xB6 || code == 0xB7 || code == 0xBE || code == 0xBF || code == 0xAF;
    if (is_register || !(is_vector || is_move)) return result;
    result.is_read = 1;
    result.width = is_vector ? 16 : 8;
    code = 0;
  } else if (code < 0x40 && (code & 7) < 4) {
    /* add, or, adc, sbb, and, sub, xor change their first operand; cmp does not */
    result.is_read = 1;
    result.is_changed = (code & 2) == 0 && code >> 3 != 7;
    result.width = 8;
  } else {
    switch (code) {
      case 0x86: case 0x87: /* xchg locks by itself */
        result.is_locked |= !is_register;
        break;
      case 0x8A: case 0x8B: case 0x63: case 0x69: case 0x6B: case 0x84: case 0x85:
        result.is_read = 1;
        result.width = 8;
        break;
      case 0x80: case 0x81: case 0x83:
        result.is_read = 1;
        result.is_changed = which != 7;
        result.width = 8;
        break;
      case 0xC0: case 0xC1: case 0xD0: case 0xD1: case 0xD2: case 0xD3:
        result.is_read = result.is_changed = 1;
        result.width = 8;
        break;
      case 0xF6: case 0xF7:
        result.is_read = 1;
        result.is_changed = which == 2 || which == 3;
        result.width = 8;
        break;
      case 0xFE: case 0xFF:
        result.is_read = 1;
        result.is_changed = which < 2;
        result.width = 8;
        break;
      default: break;
    }
  }
  if (is_register || is_of_thread) result.width = 0;
  if (result.width) result.address = operand(bytes, rex, all, immediate(code, which, is_short));
  return result;
}

static void read_counters(void) {
  for (size_t index = 0; index < count; index++) steps.last[index] = counters[index] ? *counters[index] : 0;
}

/* Compares the words with their values before the last instruction. */
static void look_back(void) {
  if (!steps.at) return;
  int is_of_plugin = is_in(&plugin, steps.at);
  steps.has_lock |= steps.is_inside && steps.next.is_locked && !is_in(&program, steps.at);
  for (size_t index = 0; index < count; index++) {
    const uint64_t *word = counters[index];
    if (!word || *word == steps.last[index]) continue;
    steps.last[index] = *word;
    int was_read = steps.next.is_changed || steps.read >> index & 1;
    if (is_of_plugin && was_read && !steps.has_lock) steps.unlocked |= (uint64_t)1 << index;
  }
}

/* Looks at the instruction that is next. */
static void look_ahead(uintptr_t at, const greg_t *all) {
  steps.at = at;
  steps.next = decode((const uint8_t *)at, all);
  if (!steps.next.is_read || !steps.next.width || !is_in(&plugin, at)) return;
  for (size_t index = 0; index < count; index++) {
    uintptr_t word = (uintptr_t)counters[index], first = steps.next.address;
    if (word && first < word + sizeof(uint64_t) && word < first + steps.next.width) steps.read |= (uint64_t)1 << index;
  }
}

static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  greg_t *all = ((ucontext_t *)context)->uc_mcontext.gregs;
  uintptr_t at = (uintptr_t)all[REG_RIP];
  if (steps.is_on && at == (uintptr_t)CTestHost_back + 1) {
    all[REG_RIP] = (greg_t)steps.back;
    all[REG_EFL] |= TRAP_FLAG;
    read_counters();
    look_ahead(steps.back, all);
    return;
  }
  all[REG_EFL] &= ~TRAP_FLAG;
  if (!steps.is_on) return;
  look_back();
  if (is_in(&plugin, at)) steps.is_inside = 1;
  if (steps.is_inside && is_in(&program, at)) {
    uintptr_t *top = (uintptr_t *)all[REG_RSP];
    /* The hook has returned, or ends with a function of the host. */
    if ((steps.at && steps.next.is_return) || is_in(&program, *top)) {
      steps.is_on = 0;
      return;
    }
    /* A function of the host runs without steps. */
    steps.back = *top;
    steps.at = 0;
    *top = (uintptr_t)CTestHost_back;
    return;
  }
  look_ahead(at, all);
  all[REG_EFL] |= TRAP_FLAG;
}

static int find_code(struct dl_phdr_info *info, size_t size, void *inside) {
  (void)size;
  struct span code = {UINTPTR_MAX, 0};
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (start < code.start) code.start = start;
    if (start + part->p_memsz > code.end) code.end = start + part->p_memsz;
  }
  if (is_in(&code, (uintptr_t)inside)) plugin = code;
  if (is_in(&code, (uintptr_t)find_code)) program = code;
  return 0;
}

int CTestHost_openSteps(const void *inside) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  dl_iterate_phdr(find_code, (void *)inside);
  return plugin.end && program.end && sigaction(SIGTRAP, &action, NULL) == 0;
}

void CTestHost_beginSteps(void) {
  memset(&steps, 0, sizeof steps);
  read_counters();
  steps.is_on = 1;
  /* Not into the red zone of this function. */
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::"i"(TRAP_FLAG) : "cc", "memory");
}

uint64_t CTestHost_endSteps(void) {
  steps.is_on = 0;
  return steps.unlocked;
}

#else

int CTestHost_openSteps(const void *inside) { return (void)inside, 0; }
void CTestHost_beginSteps(void) {}
uint64_t CTestHost_endSteps(void) { return 0; }

#endif
