/* Parses the configuration of its first instance, and keeps that for all later ones. */
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int is_parsed, limit;
  char client[65];
} settings = {.limit = 100, .client = "books"};

/* The value of a member. A name is in front of a colon, and the schema permits no other colons. */
static const char *value(const char *json, const char *name) {
  for (const char *p = strstr(json, name); p; p = strstr(p, name)) {
    p += strlen(name);
    p += strspn(p, " \t\r\n");
    if (*p == ':') return p + 1 + strspn(p + 1, " \t\r\n");
  }
  return NULL;
}
static void parse(const char *json) {
  const char *limit = value(json, "\"limit\""), *client = value(json, "\"client\"");
  if (limit) settings.limit = (int)strtod(limit, NULL);
  if (client) sscanf(client, "\"%64[A-Za-z0-9-]", settings.client);
  settings.is_parsed = 1;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  char *json = calloc(info->config_json.len + 1, 1);
  if (!json) return CRB_E_NOMEM;
  memcpy(json, info->config_json.ptr, info->config_json.len);
  pthread_mutex_lock(&lock);
  if (!settings.is_parsed) parse(json);
  pthread_mutex_unlock(&lock);
  free(json);
  *inst = &settings;
  return CRB_OK;
}
static void destroy(void *inst) { (void)inst; }
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  char limit[16];
  snprintf(limit, sizeof limit, "%d", settings.limit);
  crb_status status = host->header_set(call, text("X-Client"), text(settings.client), CRB_HEADER_REPLACE);
  if (status == CRB_OK) status = host->header_set(call, text("X-Limit"), text(limit), CRB_HEADER_REPLACE);
  return status == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define SCHEMA                                                                                                              \
  "{\"type\":\"object\",\"properties\":{\"client\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9-]+$\",\"maxLength\":64}," \
  "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}},\"additionalProperties\":false}"
#define MUTATES CRB_PART_HEADERS
#define CREATE create
#define DESTROY destroy
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
