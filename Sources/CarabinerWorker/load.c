/* Maps plugins, and reads what they register. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

static struct library libraries[CCROSSING_MOST_PLUGINS];

static crb_status fail(struct records *answer, const char *step, const char *text) {
  reset_records(answer);
  add_failure(answer, CRB_E_INVAL, 0, step, text);
  return CRB_E_INVAL;
}

/* A text that lives as long as the process. */
static crb_view keep(crb_view text) {
  if (!text.ptr) return text;
  uint8_t *copy = malloc(text.len + 1);
  if (!copy) return (crb_view){NULL, 0};
  memcpy(copy, text.ptr, text.len);
  copy[text.len] = 0;
  return (crb_view){copy, text.len};
}

static void make_host(struct library *library, struct reader message) {
  crb_view name, version;
  library->is_watched = find_record(message, CCROSSING_WATCHED, &name, &version) != NULL;
  find_record(message, CCROSSING_LINE, &name, &version);
  library->host.name = keep(name.ptr ? name : text_of("carabiner"));
  library->host.version = keep(version.ptr ? version : text_of(""));
  /* A laboratory grants services itself. */
  library->host.self = add_self(library->number + 1, 0, library->is_watched ? GRANT_FETCH | GRANT_STORE : 0, 0);
  fill_host(&library->host);
  if (library->is_watched) watch_host(&library->host);
}

static const char *read_table(const crb_plugin *from, struct library *library) {
  static char text[160];
  if (from->size < offsetof(crb_plugin, init)) return "its size is too small";
  crb_plugin *table = &library->table;
  memcpy(table, from, from->size < sizeof *table ? from->size : sizeof *table);
  if (table->abi_major != CRB_ABI_MAJOR || table->abi_minor_required > CRB_ABI_MINOR) {
    snprintf(text, sizeof text, "it needs ABI %u.%u, this worker has %d.%d", table->abi_major, table->abi_minor_required, CRB_ABI_MAJOR,
             CRB_ABI_MINOR);
    return text;
  }
  if (table->count == 0 || table->count > MOST_INTERCEPTORS || !table->items) return "it registers no interceptors, or more than 64";
  library->interceptors = calloc(table->count, sizeof *library->interceptors);
  if (!library->interceptors) return "there is no memory for its interceptors";
  for (uint32_t index = 0; index < table->count; index++) {
    struct interceptor *to = &library->interceptors[index];
    to->library = library;
    const char *wrong = read_interceptor(table->items[index], to);
    if (wrong) return wrong;
    for (uint32_t other = 0; other < index; other++) {
      if (!strcmp(library->interceptors[other].table.id, to->table.id)) return "two interceptors have the same id";
    }
  }
  return NULL;
}

static crb_status initialize(struct library *library, struct reader message, struct records *answer) {
  crb_view name, origin;
  find_record(message, CCROSSING_ORIGIN, &name, &origin);
  if (!library->table.init) return CRB_OK;
  crb_status status = library->table.init(&library->host, keep(origin.ptr ? origin : text_of("")));
  if (status != CRB_OK) add_failure(answer, status, 0, "init", NULL);
  return status;
}

static crb_status load_into(struct library *library, struct reader message, struct records *answer) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%u", plugin_descriptor(library->number));
  /* The descriptor stays open: the linker would give its number's library to the next file with that number. */
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) return fail(answer, "dlopen", dlerror());
  const crb_plugin *(*entry)(const crb_host *) = (const crb_plugin *(*)(const crb_host *))dlsym(handle, "crb_entry_v1");
  if (!entry) return fail(answer, "entry", "it does not export crb_entry_v1");
  make_host(library, message);
  const crb_plugin *table = entry(&library->host);
  if (!table) return fail(answer, "entry", "its entry function returned NULL: it cannot work with this host");
  const char *wrong = read_table(table, library);
  if (wrong) return fail(answer, "table", wrong);
  crb_status status = initialize(library, message, answer);
  if (status != CRB_OK) return status;
  library->count = library->table.count;
  return CRB_OK;
}

crb_status load_plugin(uint32_t number, const struct reader *message, struct records *answer) {
  if (number >= plugin_count()) return fail(answer, "load", "there is no plugin file with this number");
  struct library *library = &libraries[number];
  if (library->host.size) return fail(answer, "load", "the plugin was loaded before");
  library->number = number;
  running_library = number + 1;
  crb_status status = load_into(library, *message, answer);
  running_library = 0;
  for (uint32_t index = 0; index < library->count; index++) describe(&library->interceptors[index], answer);
  return answer->is_short ? fail(answer, "load", "there is no memory for the description of the plugin") : status;
}

const struct interceptor *find_interceptor(uint64_t argument) {
  uint64_t plugin = argument >> 16, index = argument & 0xffff;
  if (plugin >= CCROSSING_MOST_PLUGINS || index >= libraries[plugin].count) return NULL;
  return &libraries[plugin].interceptors[index];
}

void end_plugins(void) {
  for (uint32_t number = 0; number < CCROSSING_MOST_PLUGINS; number++) {
    if (libraries[number].count == 0 || !libraries[number].table.deinit) continue;
    running_library = number + 1;
    libraries[number].table.deinit();
  }
}
