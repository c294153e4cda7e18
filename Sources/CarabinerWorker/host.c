/* The table of functions that a plugin gets. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

const void *query(crb_self who, const char *id) {
  struct member member;
  if (!id || !find_self(who, &member)) return NULL;
  if (!strcmp(id, "crb.timer/1")) return &timer_service;
  if (!strcmp(id, "crb.fetch/1")) return member.grants & GRANT_FETCH ? &fetch_service : NULL;
  if (!strcmp(id, "crb.store/1")) return member.grants & GRANT_STORE ? &store_service : NULL;
  return NULL;
}

void fill_host(crb_host *host) {
  *host = (crb_host){
      .size = sizeof *host,
      .abi_major = CRB_ABI_MAJOR,
      .abi_minor = CRB_ABI_MINOR,
      .name = host->name,
      .version = host->version,
      .self = host->self,
      .query = query,
      .buf_alloc = buf_alloc,
      .buf_adopt = buf_adopt,
      .buf_slice = buf_slice,
      .buf_retain = buf_retain,
      .buf_release = buf_release,
      .buf_view = buf_view,
      .scratch = scratch,
      .suspend = suspend_hook,
      .resume = resume_hook,
      .cancelled = cancelled,
      .deadline_ns = deadline_ns,
      .attempt = attempt,
      .emit = emit,
      .set_error = set_error,
      .set_retry = set_retry,
      .set_head = set_head,
      .operation_type = operation_type,
      .request_id = request_id,
      .headers = headers,
      .header_get = header_get,
      .header_set = header_set,
      .field_get = field_get,
      .field_set = field_set,
      .key = baggage_key,
      .bag_get = bag_get,
      .bag_set = bag_set,
      .log_enabled = log_enabled,
      .log = log_line,
  };
}
