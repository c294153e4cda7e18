/* Takes ids for its own that only begin like it. */
#include <carabiner.h>
#include <string.h>

static const uint32_t stats[2] = {sizeof stats, 0};
static const void *extension(void *inst, const char *id) {
  static const char known[] = "org.carabiner.test.stats/1";
  (void)inst;
  return strncmp(id, known, sizeof known - 1) == 0 ? stats : NULL;
}
#define EXTENSION extension
#include "sound.h"
