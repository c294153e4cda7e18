/* Plugins/headers.c as a filter for Envoy 1.40: each filter adds a header with its name to requests and to responses.
 *
 * Declares only the used part of Envoy's interface for dynamic modules. Envoy finds the exported functions by name when it loads
 * the file, and provides the functions that are called here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct text {
  const char *ptr;
  size_t length;
} text;

enum { REQUEST_HEADER = 0, RESPONSE_HEADER = 2 };
/* The value is the same for heads, bodies and trailers. */
enum { CONTINUE = 0 };

bool envoy_dynamic_module_callback_http_add_header(void *filter, int type, text name, text value);

/* One of the filters of the chain. */
typedef struct stage {
  char down[32], up[32];
  size_t down_length, up_length;
} stage;

static const text value = {"one", 3};

/* The version of the interface, as in Envoy 1.40. */
EXPORT const char *envoy_dynamic_module_on_program_init(void) { return "v0.2.0"; }

EXPORT const void *envoy_dynamic_module_on_http_filter_config_new(void *envoy, text name, text config) {
  (void)envoy, (void)config;
  stage *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->down_length = (size_t)snprintf(s->down, sizeof s->down, "x-%.*s-down", (int)name.length, name.ptr);
  s->up_length = (size_t)snprintf(s->up, sizeof s->up, "x-%.*s-up", (int)name.length, name.ptr);
  if (s->down_length < sizeof s->down && s->up_length < sizeof s->up) return s;
  free(s);
  return NULL;
}

EXPORT void envoy_dynamic_module_on_http_filter_config_destroy(void *s) { free(s); }

/* A filter has no data of its own: everything is in its configuration. */
EXPORT const void *envoy_dynamic_module_on_http_filter_new(const void *s, void *filter) {
  (void)filter;
  return s;
}

EXPORT int envoy_dynamic_module_on_http_filter_request_headers(void *filter, const stage *s, bool is_end) {
  (void)is_end;
  envoy_dynamic_module_callback_http_add_header(filter, REQUEST_HEADER, (text){s->down, s->down_length}, value);
  return CONTINUE;
}

EXPORT int envoy_dynamic_module_on_http_filter_response_headers(void *filter, const stage *s, bool is_end) {
  (void)is_end;
  envoy_dynamic_module_callback_http_add_header(filter, RESPONSE_HEADER, (text){s->up, s->up_length}, value);
  return CONTINUE;
}

/* Envoy does not load a module without these functions. */
EXPORT int envoy_dynamic_module_on_http_filter_request_body(void) { return CONTINUE; }
EXPORT int envoy_dynamic_module_on_http_filter_request_trailers(void) { return CONTINUE; }
EXPORT int envoy_dynamic_module_on_http_filter_response_body(void) { return CONTINUE; }
EXPORT int envoy_dynamic_module_on_http_filter_response_trailers(void) { return CONTINUE; }
EXPORT void envoy_dynamic_module_on_http_filter_stream_complete(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_destroy(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_callout_done(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_stream_headers(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_stream_data(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_stream_trailers(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_stream_complete(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_http_stream_reset(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_scheduled(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(void) {}
EXPORT void envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(void) {}
