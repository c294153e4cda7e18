/* `host` and `self` for a fixture that calls the host, and common helper functions.  A fixture includes it after carabiner.h;
 * the entry function of sound.h sets both. */
#ifndef HAS_HOST
#define HAS_HOST
#include <stdint.h>
#include <string.h>

static const crb_host *host;
static crb_self self;

/* A view of a C string. */
static inline crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* Stages a C string as an element. */
static inline crb_status emit(crb_call call, uint32_t kind, const char *s, uint32_t flags) {
  uint8_t *bytes;
  crb_buf b = host->buf_alloc(self, strlen(s), &bytes);
  if (!b) return CRB_E_NOMEM;
  memcpy(bytes, s, strlen(s));
  return host->emit(call, kind, b, flags);
}
#endif
