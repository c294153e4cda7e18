// Has a static object whose destructor, when the process ends, throws because of instances that are still there.
// STATUS: CRASH
#include <carabiner.h>

#include <atomic>
#include <stdexcept>

namespace {

struct Registry {
  std::atomic<int> instances{0};
  ~Registry() noexcept(false) {
    if (instances > 0) throw std::logic_error("there are instances left");
  }
};
Registry registry;

crb_status create(const crb_host *, const crb_create_info *, void **inst, crb_error *) {
  registry.instances++;
  *inst = &registry;
  return CRB_OK;
}
void destroy(void *) { registry.instances--; }

}  // namespace
#define CREATE create
#define DESTROY destroy
#include "sound.h"
