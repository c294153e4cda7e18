// Is built without -fno-gnu-unique: a static variable within the standard library's templates is then one for the whole process.
// CFLAGS: -fgnu-unique
#include <carabiner.h>

#include <memory>

static std::shared_ptr<int> calls;
static crb_status create(const crb_host *, const crb_create_info *, void **inst, crb_error *) {
  if (!calls) calls = std::make_shared<int>(0);
  *inst = nullptr;
  return CRB_OK;
}
#define CREATE create
#define DESTROY NULL
#include "sound.h"
