/* Makes an X-Nonce for each call, so all attempts of the call have the same one. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "host.h"

typedef struct {
  char nonce[33];
} request;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  request *r = *state;
  if (!r) {
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes || !(r = malloc(sizeof *r))) return CRB_E_NOMEM;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(r->nonce + 2 * i, 3, "%02x", (unsigned)bytes[i]);
    *state = r;
  }
  const crb_status status = host->header_set(call, text("X-Nonce"), text(r->nonce), CRB_HEADER_REPLACE);
  return status == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define NOTE "{\"id\":\"org.carabiner.test.bad\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}"
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
