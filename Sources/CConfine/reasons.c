#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct layer {
  const char *name, *advice;
};

static const struct layer all[CCONFINE_LAYER_COUNT] = {
    {"a filter of system calls (seccomp)", "Use a kernel with CONFIG_SECCOMP_FILTER. In a container, allow seccomp() and prctl()."},
    {"a wall around files (Landlock)",
     "Use Linux 5.13 or newer, with landlock in the boot parameter lsm=. In a container, allow the calls of Landlock."},
    {"no privileges", "In a container, allow prctl() and capset()."},
    {"limits", "In a container, allow setrlimit() and prlimit64()."},
    {"no other descriptors", "Use Linux 5.9 or newer. In a container, allow close_range()."},
    {"another user than root", "Start it as an ordinary user, or with the capabilities CAP_SETUID and CAP_SETGID."},
    {"a session of its own", "In a container, allow setsid()."},
    {"namespaces of its own",
     "Allow user namespaces: raise user.max_user_namespaces, set kernel.unprivileged_userns_clone to 1 or "
     "kernel.apparmor_restrict_unprivileged_userns to 0. In a container, allow clone() with CLONE_NEWUSER. "
     "Without them, threads are not limited."},
    {"a root of its own",
     "Allow user namespaces and mounts in them. In a container, allow mount() and pivot_root(), and a /proc without hidden files."},
};

static struct CConfine_failure reasons[CCONFINE_LAYER_COUNT];

/* The index of a layer; CCONFINE_LAYER_COUNT if `layer` is not one bit of them. */
static size_t place_of(uint32_t layer) {
  for (size_t place = 0; place < CCONFINE_LAYER_COUNT; place++) {
    if (layer == 1u << place) return place;
  }
  return CCONFINE_LAYER_COUNT;
}

int CConfine_miss(uint32_t layer, const char *step, int code) {
  size_t place = place_of(layer);
  if (place < CCONFINE_LAYER_COUNT && !reasons[place].step[0]) {
    snprintf(reasons[place].step, sizeof reasons[place].step, "%s", step);
    reasons[place].code = code;
  }
  return -1;
}

void CConfine_forgetReasons(void) { memset(reasons, 0, sizeof reasons); }

const char *CConfine_layerName(uint32_t layer) {
  size_t place = place_of(layer);
  return place < CCONFINE_LAYER_COUNT ? all[place].name : NULL;
}

uint32_t CConfine_missing(enum CConfine_profile profile, uint32_t layers) {
  uint32_t required = CCONFINE_CALLS | CCONFINE_PRIVILEGES | CCONFINE_LIMITS | CCONFINE_DESCRIPTORS;
  if (profile != CCONFINE_WORKER || !(layers & CCONFINE_ROOT)) required |= CCONFINE_FILES;
  return required & ~layers;
}

size_t CConfine_explain(uint32_t layer, char *text, size_t capacity) {
  size_t place = place_of(layer);
  if (capacity) text[0] = 0;
  if (place == CCONFINE_LAYER_COUNT || !reasons[place].step[0]) return 0;
  const struct CConfine_failure *reason = &reasons[place];
  int length = reason->code ? snprintf(text, capacity, "%s failed: %s. %s", reason->step, strerror(reason->code), all[place].advice)
                            : snprintf(text, capacity, "%s. %s", reason->step, all[place].advice);
  if (length < 0) return 0;
  return (size_t)length < capacity ? (size_t)length : capacity ? capacity - 1 : 0;
}
