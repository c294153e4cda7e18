/* Makes a thread key for each instance. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  pthread_key_t key;
  /* Room for other plugins is left: what fails then is another rule. */
  static int count;
  if (count++ < 600) pthread_key_create(&key, NULL);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
