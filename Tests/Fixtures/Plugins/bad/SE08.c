/* Logs the Authorization header. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void leak(crb_call call, crb_view value) {
  host->log(self, CRB_LOG_DEBUG, call, value);
}
#include "sound-secret.h"
