/* carabiner-worker confines itself and runs plugins for a host, or maps one plugin and reports what it could do.  carabiner-launcher
 * starts it.
 *
 * It is C and maps no Swift: what is mapped here, a plugin can use.  Its descriptors: 0 is /dev/null, 1 and 2 are a pipe that the
 * launcher reads, 3 takes the report.  If it only reports, 4 has the bytes of the plugin; else crossing.h names the others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "crossing.h"
#include "run.h"

enum { REPORT = 3, PLUGIN = 4 };
/* The exit statuses. */
enum { DONE = 0, WRONG_USAGE = 2, NOT_CONFINED = 3, NOT_MAPPED = 4 };
/* Larger blocks of an arena have no number. */
#define MOST_ARENA (4ull << 30)
/* More than that is not useful to a plugin that changes requests. */
enum { MOST_READABLE = 256 << 10, DESCRIPTORS = 64, THREADS = 128 };
#ifndef ADDRESSES /* sanitizers need more */
#define ADDRESSES (64ull << 30)
#endif

struct order {
  uint64_t parent, user, group, memory, layers;
  uint64_t lanes, arena, plugins; /* lanes: 0 to report only */
  int is_strict, has_plugin;
  struct CConfine_launch launch;
  char readable[MOST_READABLE];
  size_t readable_length;
};

/* Reads a decimal number.  Returns what follows it; NULL if there is none, or if it is too large. */
static const char *take_number(const char *text, uint64_t *number) {
  if (*text < '0' || *text > '9') return NULL;
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 ? end : NULL;
}

static int take_whole(const char *text, uint64_t *number) {
  const char *end = take_number(text, number);
  return end && *end == 0;
}

/* NUMBER:NUMBER */
static int take_pair(const char *text, uint64_t *first, uint64_t *second) {
  const char *colon = take_number(text, first);
  return colon && *colon == ':' && take_whole(colon + 1, second);
}

/* The namespaces, the device and the number of the root, with commas. */
static int take_outside(const char *text, struct CConfine_place *outside) {
  uint64_t *numbers[CCONFINE_NAMESPACE_COUNT + 2];
  for (size_t index = 0; index < CCONFINE_NAMESPACE_COUNT; index++) numbers[index] = &outside->namespaces[index];
  numbers[CCONFINE_NAMESPACE_COUNT] = &outside->root_device;
  numbers[CCONFINE_NAMESPACE_COUNT + 1] = &outside->root_file;
  const size_t count = sizeof numbers / sizeof *numbers;
  for (size_t index = 0; index < count; index++) {
    text = take_number(text, numbers[index]);
    if (!text || *text != (index + 1 < count ? ',' : 0)) return 0;
    text++;
  }
  return 1;
}

/* NUMBER:TEXT, the errno and the step. */
static int take_failure(const char *text, struct CConfine_failure *failure) {
  uint64_t code;
  const char *colon = take_number(text, &code);
  if (!colon || *colon != ':' || code > 4096) return 0;
  failure->code = (int)code;
  snprintf(failure->step, sizeof failure->step, "%s", colon + 1);
  return 1;
}

static int take_path(struct order *order, const char *path) {
  size_t size = strlen(path) + 1;
  /* One byte is left for the empty path at the end. */
  if (path[0] != '/' || size >= sizeof order->readable - order->readable_length) return 0;
  memcpy(order->readable + order->readable_length, path, size);
  order->readable_length += size;
  return 1;
}

static int take_option(struct order *order, const char *name, const char *value) {
  if (!strcmp(name, "--parent")) return take_whole(value, &order->parent);
  if (!strcmp(name, "--user")) return take_pair(value, &order->user, &order->group);
  if (!strcmp(name, "--memory")) return take_whole(value, &order->memory);
  if (!strcmp(name, "--layers")) return take_whole(value, &order->layers);
  if (!strcmp(name, "--outside")) return take_outside(value, &order->launch.outside);
  if (!strcmp(name, "--no-namespaces")) return take_failure(value, &order->launch.namespaces);
  if (!strcmp(name, "--no-root")) return take_failure(value, &order->launch.root);
  if (!strcmp(name, "--lanes")) return take_whole(value, &order->lanes) && order->lanes > 0;
  if (!strcmp(name, "--arena")) return take_whole(value, &order->arena);
  if (!strcmp(name, "--plugins")) return take_whole(value, &order->plugins);
  if (!strcmp(name, "--read")) return take_path(order, value);
  if (!strcmp(name, "--confine")) return order->is_strict = !strcmp(value, "strict"), order->is_strict || !strcmp(value, "available");
  if (!strcmp(name, "--plugin")) return order->has_plugin = !strcmp(value, "yes"), order->has_plugin || !strcmp(value, "no");
  return 0;
}

static int take_order(struct order *order, int count, char **words) {
  for (int index = 1; index < count; index += 2) {
    if (index + 1 == count || !take_option(order, words[index], words[index + 1])) return 0;
  }
  /* Without a parent it would outlive its launcher. */
  if (order->parent == 0 || order->parent > INT32_MAX || order->memory == 0) return 0;
  if (order->user >= UINT32_MAX || order->group >= UINT32_MAX || order->layers > UINT32_MAX) return 0;
  if (order->lanes > CCROSSING_MOST_LANES || order->plugins > CCROSSING_MOST_PLUGINS || order->arena > MOST_ARENA) return 0;
  if (order->lanes > 0 && (order->arena < CCROSSING_BLOCK || order->arena % CCROSSING_BLOCK != 0 || order->has_plugin)) return 0;
  order->launch.layers = (uint32_t)order->layers;
  return 1;
}

static uint32_t confine(const struct order *order) {
  int kept[CCROSSING_FIRST_PAIR + CCROSSING_MOST_PLUGINS] = {0, 1, 2, REPORT, PLUGIN};
  size_t kept_count = order->lanes > 0 ? kept_descriptors(kept) : order->has_plugin ? 5 : 4;
  struct CConfine_settings settings = {
      .profile = CCONFINE_WORKER,
      .parent = (pid_t)order->parent,
      .user = (uid_t)order->user,
      .group = (gid_t)order->group,
      .readable = order->readable,
      .kept = kept,
      .kept_count = kept_count,
      .limits = {.data = order->memory, .addresses = ADDRESSES, .descriptors = DESCRIPTORS, .processes = THREADS},
      .launch = &order->launch,
  };
  return CConfine_confine(&settings);
}

static void report_layers(uint32_t had) {
  for (uint32_t place = 0; place < CCONFINE_LAYER_COUNT; place++) {
    uint32_t layer = 1u << place;
    char why[512];
    if (had & layer) dprintf(REPORT, "in force: %s\n", CConfine_layerName(layer));
    else if (CConfine_explain(layer, why, sizeof why)) dprintf(REPORT, "missing: %s: %s\n", CConfine_layerName(layer), why);
    else dprintf(REPORT, "missing: %s\n", CConfine_layerName(layer));
  }
}

static void report_refusals(void) {
  enum { MOST = 64 };
  struct CConfine_refusal refused[MOST];
  size_t count = CConfine_refusals(refused, MOST);
  for (size_t index = 0; index < count && index < MOST; index++) {
    const char *name = CConfine_callName(refused[index].number);
    dprintf(REPORT, "refused: %s, number %lld, %llu times, first at %#llx\n", name ? name : "a system call",
            (long long)refused[index].number, (unsigned long long)refused[index].count, (unsigned long long)refused[index].address);
  }
}

/* The plugin is never unmapped, because its threads may run on. */
static int map_plugin(void) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", PLUGIN);
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (plugin) dprintf(REPORT, "mapped\n");
  else dprintf(REPORT, "not mapped: %s\n", dlerror());
  report_refusals();
  return plugin ? DONE : NOT_MAPPED;
}

int main(int count, char **words) {
  static struct order order;
  if (!take_order(&order, count, words)) {
    fprintf(stderr, "carabiner-worker is started by carabiner-launcher of the same version. Run carabiner-launcher --help.\n");
    return WRONG_USAGE;
  }
  const char *wrong = order.lanes > 0 ? open_pairs((uint32_t)order.lanes, order.arena, (uint32_t)order.plugins) : NULL;
  if (wrong) {
    fprintf(stderr, "carabiner-worker cannot run: %s. It is started by a host of the same version.\n", wrong);
    return WRONG_USAGE;
  }
  uint32_t had = confine(&order);
  report_layers(had);
  if (CConfine_missing(CCONFINE_WORKER, had) && order.is_strict) return NOT_CONFINED;
  dprintf(REPORT, "confined\n");
  if (order.lanes > 0) {
    close(REPORT);
    CConfine_onRefusal(note_refusal);
    run_pairs();
  }
  /* Without exit handlers: those of the plugin are not called either when its worker is killed. */
  _exit(order.has_plugin ? map_plugin() : DONE);
}
