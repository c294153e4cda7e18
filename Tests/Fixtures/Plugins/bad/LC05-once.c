/* Reads the configuration of the first instance only, and uses it for all later ones. */
/* ONLY: HR01,LC05 */
#include <carabiner.h>
#include <pthread.h>

#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_read;
static char name[65] = "books";

/* The schema permits one member, {"name":"x"}: its value is between the third and the fourth quote. */
static void read_name(crb_view config) {
  int quotes = 0;
  size_t length = 0;
  for (size_t i = 0; i < config.len; i++) {
    if (config.ptr[i] == '"') quotes++;
    else if (quotes == 3 && length < sizeof name - 1) name[length++] = (char)config.ptr[i];
  }
  if (quotes) name[length] = 0;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  pthread_mutex_lock(&lock);
  if (!is_read) read_name(info->config_json);
  is_read = 1;
  pthread_mutex_unlock(&lock);
  *inst = NULL;
  return CRB_OK;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  return host->header_set(call, text("X-Name"), text(name), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INTERNAL;
}
#define SCHEMA                                                                                                    \
  "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9-]+$\",\"maxLength\":64}}," \
  "\"additionalProperties\":false}"
#define MUTATES CRB_PART_HEADERS
#define CREATE create
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
