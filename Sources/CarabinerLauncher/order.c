#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher.h"

/* The host is trusted, but it may have an error.  Every field is checked before a worker starts. */

static int refuse(char step[CLAUNCHING_STEP], int code, const char *what) {
  snprintf(step, CLAUNCHING_STEP, "%s", what);
  return code;
}

static int refuse_text(char step[CLAUNCHING_STEP], int code, const char *what, const char *text) {
  /* The value of a variable may be a secret. */
  snprintf(step, CLAUNCHING_STEP, "%s %.*s", what, (int)strcspn(text, "=") < 48 ? (int)strcspn(text, "=") : 48, text);
  return code;
}

static int is_readable(const struct options *options, const char *folder) {
  for (const char *path = options->readable; *path; path += strlen(path) + 1) {
    if (strcmp(path, folder) == 0) return 1;
  }
  return 0;
}

/* Takes some strings from the text.  Returns 0 if it has fewer. */
static int take_strings(const char **text, const char *end, const char **strings, size_t count) {
  for (size_t index = 0; index < count; index++) {
    const char *stop = memchr(*text, 0, (size_t)(end - *text));
    if (!stop) return 0;
    strings[index] = *text;
    *text = stop + 1;
  }
  return 1;
}

static int check_counts(const struct CLaunching_start *start, size_t length, size_t descriptors, char step[CLAUNCHING_STEP]) {
  if (start->kind != CLAUNCHING_START || start->reserved != 0) return refuse(step, EPROTO, "the kind of the message");
  if (start->request == 0) return refuse(step, EPROTO, "the number of the request");
  if (start->text > CLAUNCHING_MOST_TEXT || start->text != length) return refuse(step, EPROTO, "the length of the message");
  if (start->folders > CLAUNCHING_MOST_FOLDERS) return refuse(step, E2BIG, "the number of folders");
  if (start->variables > CLAUNCHING_MOST_VARIABLES) return refuse(step, E2BIG, "the number of variables");
  if (start->words > CLAUNCHING_MOST_WORDS) return refuse(step, E2BIG, "the number of words");
  if (start->descriptors > CLAUNCHING_MOST_DESCRIPTORS) return refuse(step, E2BIG, "the number of descriptors");
  if (start->descriptors == 0 || start->descriptors != descriptors) return refuse(step, EPROTO, "the number of descriptors");
  if (start->is_strict > 1) return refuse(step, EPROTO, "strict or available");
  if (start->memory < CLAUNCHING_LEAST_MEMORY || start->memory > CLAUNCHING_MOST_MEMORY) return refuse(step, EINVAL, "the memory");
  return 0;
}

static int check_strings(const struct order *order, const struct options *options, char step[CLAUNCHING_STEP]) {
  for (size_t index = 0; index < order->folder_count; index++) {
    if (!is_readable(options, order->folders[index])) return refuse_text(step, EACCES, "the folder", order->folders[index]);
  }
  for (size_t index = 0; index < order->variable_count; index++) {
    const char *variable = order->variables[index], *equals = strchr(variable, '=');
    /* Code of LD_PRELOAD would run before the worker is confined. */
    if (!equals || equals == variable || strncmp(variable, "LD_", 3) == 0) return refuse_text(step, EINVAL, "the variable", variable);
  }
  /* A worker takes pairs of words.  A name that is taken for a value would change the pairs after it. */
  if (order->word_count % 2 != 0) return refuse(step, EINVAL, "the number of words");
  for (size_t index = 0; index < order->word_count; index += 2) {
    const char *word = order->words[index];
    if (strncmp(word, "--", 2) != 0 || is_own_word(word)) return refuse_text(step, EINVAL, "the word", word);
  }
  return 0;
}

int take_order(struct order *order, const struct CLaunching_start *start, const char *text, size_t length, size_t descriptors,
               const struct options *options, char step[CLAUNCHING_STEP]) {
  int code = check_counts(start, length, descriptors, step);
  if (code != 0) return code;
  const char *end = text + length;
  order->request = start->request;
  order->memory = start->memory;
  order->confine = start->is_strict ? "strict" : "available";
  order->folder_count = start->folders;
  order->variable_count = start->variables;
  order->word_count = start->words;
  int is_whole = take_strings(&text, end, order->folders, start->folders) &&
                 take_strings(&text, end, order->variables, start->variables) && take_strings(&text, end, order->words, start->words);
  if (!is_whole || text != end) return refuse(step, EPROTO, "the text of the message");
  code = check_strings(order, options, step);
  if (code != 0) return code;
  /* The loader of a worker searches these folders too, so it may read them. */
  for (const char *path = options->readable + options->libraries; *path; path += strlen(path) + 1) {
    if (order->folder_count == MOST_FOLDERS) return refuse(step, E2BIG, "the number of folders");
    order->folders[order->folder_count++] = path;
  }
  return 0;
}
