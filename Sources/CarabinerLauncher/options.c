#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

static const char usage[] =
    "usage: carabiner-launcher [--confine strict|available] [--plugin FILE] [--read PATH]... [--memory BYTES]\n"
    "                          [--user UID:GID] [--seconds N] [--worker DESCRIPTOR] [--help]\n"
    "       carabiner-launcher --serve DESCRIPTOR [--read PATH]... [--user UID:GID] [--worker DESCRIPTOR]\n"
    "\n"
    "Starts a worker, a confined process that maps a plugin. Prints which layers of its confinement are in force on this system, and\n"
    "for each other one why it is missing and what to do.\n"
    "\n"
    "  --confine strict       fail if a layer is missing that untrusted plugins need (the default); available: use the layers there are\n"
    "  --plugin FILE          also map this plugin in the worker, and print the system calls that were refused to it\n"
    "  --read PATH            a file or folder that the plugin may read, beside the libraries of the system and LD_LIBRARY_PATH\n"
    "  --memory BYTES         the writable memory of the worker (default: 268435456)\n"
    "  --user UID:GID         the user of the worker if root starts the launcher (default: 65534:65534)\n"
    "  --seconds N            kill the worker after this time (default: 10)\n"
    "  --worker DESCRIPTOR    an open descriptor of carabiner-worker (default: the file beside this program)\n"
    "  --serve DESCRIPTOR     start workers as a host asks for them on this socket, until it closes; the host starts the launcher so\n"
    "\n"
    "Exit status: 0 done, 1 the worker did not run, 2 usage, 3 a required layer is missing, 4 the plugin cannot be mapped.\n";

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("carabiner-launcher: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

/* Reads a decimal number within limits.  Returns what follows it, or NULL. */
static const char *take_number(const char *text, uint64_t least, uint64_t most, uint64_t *number) {
  if (*text < '0' || *text > '9') return NULL;
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && *number >= least && *number <= most ? end : NULL;
}

static int take_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number) {
  const char *end = take_number(text, least, most, number);
  return end && *end == 0;
}

static int take_user(struct options *options, const char *text) {
  uint64_t user, group;
  const char *colon = take_number(text, 1, UINT32_MAX - 1, &user);
  if (!colon || *colon != ':' || !take_whole(colon + 1, 1, UINT32_MAX - 1, &group)) return 0;
  options->user = (uid_t)user;
  options->group = (gid_t)group;
  return 1;
}

static int add_readable(struct options *options, const char *path, size_t length) {
  if (path[0] != '/' || options->folders == MOST_FOLDERS) return 0;
  /* One byte for the end of this path, one for the empty path after the last. */
  if (length + 2 > sizeof options->readable - options->readable_length) return 0;
  memcpy(options->readable + options->readable_length, path, length);
  options->readable_length += length + 1;
  options->folders++;
  return 1;
}

/* The folders of LD_LIBRARY_PATH, which the loader searches in the worker too. */
static int add_libraries(struct options *options) {
  const char *folder = getenv("LD_LIBRARY_PATH");
  while (folder && *folder) {
    size_t length = strcspn(folder, ":");
    if (folder[0] == '/' && !add_readable(options, folder, length)) return 0;
    folder += length;
    if (*folder == ':') folder++;
  }
  return 1;
}

static int take_option(struct options *options, const char *name, const char *value) {
  uint64_t number;
  if (!strcmp(name, "--plugin")) return options->plugin = value, *value != 0;
  if (!strcmp(name, "--read")) return add_readable(options, value, strlen(value));
  if (!strcmp(name, "--memory")) return take_whole(value, CLAUNCHING_LEAST_MEMORY, CLAUNCHING_MOST_MEMORY, &options->memory);
  if (!strcmp(name, "--user")) return take_user(options, value);
  if (!strcmp(name, "--seconds")) return take_whole(value, 1, 3600, &options->seconds);
  if (!strcmp(name, "--confine")) return options->confine = value, !strcmp(value, "strict") || !strcmp(value, "available");
  int *descriptor = !strcmp(name, "--worker") ? &options->worker : !strcmp(name, "--serve") ? &options->serve : NULL;
  if (!descriptor || !take_whole(value, 3, 1 << 20, &number)) return 0;
  *descriptor = (int)number;
  return 1;
}

int take_options(struct options *options, int count, char **words) {
  options->user = options->group = 65534;
  options->memory = 256 << 20;
  options->seconds = 10;
  options->confine = "strict";
  options->worker = options->serve = -1;
  for (int index = 1; index < count; index += 2) {
    if (!strcmp(words[index], "--help") || !strcmp(words[index], "-h")) return fputs(usage, stdout), DONE;
    if (index + 1 == count) {
      say("%s is unknown, or needs a value. The options are in carabiner-launcher --help.", words[index]);
      return WRONG_USAGE;
    }
    if (!take_option(options, words[index], words[index + 1])) {
      say("%s %s is not valid. Paths are absolute, memory is at least 16777216. The options are in carabiner-launcher --help.",
          words[index], words[index + 1]);
      return WRONG_USAGE;
    }
  }
  if (options->serve >= 0 && options->plugin) {
    say("--serve takes no --plugin. The host names the plugins of each worker.");
    return WRONG_USAGE;
  }
  options->libraries = options->readable_length;
  if (add_libraries(options)) return -1;
  say("LD_LIBRARY_PATH has too many folders. %d are allowed.", MOST_FOLDERS);
  return WRONG_USAGE;
}
