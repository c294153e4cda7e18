#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static const char *const own_words[] = {"--parent",  "--user",          "--memory",  "--confine", "--layers",
                                        "--outside", "--no-namespaces", "--no-root", "--read"};

int is_own_word(const char *word) {
  for (size_t index = 0; index < sizeof own_words / sizeof *own_words; index++) {
    if (strcmp(word, own_words[index]) == 0) return 1;
  }
  return 0;
}

static void add(struct command *command, size_t *count, const char *name, const char *value) {
  command->words[(*count)++] = (char *)name;
  command->words[(*count)++] = (char *)value;
}

static void describe_outside(char *text, size_t capacity, const struct CConfine_place *outside) {
  size_t used = 0;
  for (size_t index = 0; index < CCONFINE_NAMESPACE_COUNT; index++) {
    used += (size_t)snprintf(text + used, capacity - used, "%llu,", (unsigned long long)outside->namespaces[index]);
  }
  snprintf(text + used, capacity - used, "%llu,%llu", (unsigned long long)outside->root_device, (unsigned long long)outside->root_file);
}

static int has_variable(const struct order *order, const char *start) {
  for (size_t index = 0; index < order->variable_count; index++) {
    if (strncmp(order->variables[index], start, strlen(start)) == 0) return 1;
  }
  return 0;
}

/* The environment of a worker: only what its loader and its clock need, and what the order names. */
static void fill_environment(struct command *command, const struct order *order) {
  static const char *const names[] = {"TZ=", "LD_LIBRARY_PATH="};
  size_t count = 0;
  for (size_t index = 0; index < order->variable_count; index++) command->environment[count++] = (char *)order->variables[index];
  if (!has_variable(order, "LANG=")) command->environment[count++] = "LANG=C.UTF-8";
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    for (char **variable = environ; !has_variable(order, names[index]) && *variable; variable++) {
      if (strncmp(*variable, names[index], strlen(names[index])) != 0) continue;
      command->environment[count++] = *variable;
      break;
    }
  }
  command->environment[count] = NULL;
}

void fill_command(struct command *command, const struct order *order, const struct options *options, const struct CConfine_launch *how) {
  snprintf(command->parent, sizeof command->parent, "%d", (int)getpid());
  snprintf(command->user, sizeof command->user, "%u:%u", (unsigned)options->user, (unsigned)options->group);
  snprintf(command->memory, sizeof command->memory, "%llu", (unsigned long long)order->memory);
  snprintf(command->layers, sizeof command->layers, "%u", (unsigned)how->layers);
  snprintf(command->namespaces, sizeof command->namespaces, "%d:%s", how->namespaces.code, how->namespaces.step);
  snprintf(command->root, sizeof command->root, "%d:%s", how->root.code, how->root.step);
  describe_outside(command->outside, sizeof command->outside, &how->outside);
  size_t count = 0;
  command->words[count++] = "carabiner-worker";
  add(command, &count, "--parent", command->parent);
  add(command, &count, "--user", command->user);
  add(command, &count, "--memory", command->memory);
  add(command, &count, "--confine", order->confine);
  add(command, &count, "--layers", command->layers);
  add(command, &count, "--outside", command->outside);
  add(command, &count, "--no-namespaces", command->namespaces);
  add(command, &count, "--no-root", command->root);
  for (size_t index = 0; index < order->word_count; index++) command->words[count++] = (char *)order->words[index];
  for (size_t index = 0; index < order->folder_count; index++) add(command, &count, "--read", order->folders[index]);
  command->words[count] = NULL;
  fill_environment(command, order);
}
