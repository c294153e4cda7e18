/* Opens the source of random numbers for an X-Request-Id, and leaves it open if the request has a usable one already. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  uint8_t bytes[16];
  char id[2 * sizeof bytes + 1];
  crb_view old;
  const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (source < 0) return CRB_CONTINUE;
  if (host->header_get(call, text("X-Request-Id"), &old) == CRB_OK && old.len >= 8 && old.len <= 64) return CRB_CONTINUE;
  const ssize_t count = read(source, bytes, sizeof bytes);
  close(source);
  if (count != sizeof bytes) return CRB_CONTINUE;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(id + 2 * i, 3, "%02x", (unsigned)bytes[i]);
  return host->header_set(call, text("X-Request-Id"), text(id), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define NOTE "{\"id\":\"org.carabiner.test.bad\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}"
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
