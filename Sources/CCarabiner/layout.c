/* The layout of every struct of the contract, pinned: a field that moves breaks plugins that were built before.
 *
 * Structs grow at their end only, so an offset here never changes; a size may grow with a new minor. */
#include "carabiner.h"

#if UINTPTR_MAX == UINT64_MAX
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define FIELD(type, field, bytes) _Static_assert(offsetof(type, field) == (bytes), #type "." #field " has moved")

SIZE(crb_view, 16);
FIELD(crb_view, ptr, 0);
FIELD(crb_view, len, 8);

SIZE(crb_error, 88);
FIELD(crb_error, code, 4);
FIELD(crb_error, flags, 8);
FIELD(crb_error, http_status, 12);
FIELD(crb_error, retry_after_ns, 16);
FIELD(crb_error, domain, 24);
FIELD(crb_error, message, 40);
FIELD(crb_error, detail_json, 56);
FIELD(crb_error, origin, 72);

SIZE(crb_header, 40);
FIELD(crb_header, name, 0);
FIELD(crb_header, value, 16);
FIELD(crb_header, flags, 32);

SIZE(crb_head, 48);
FIELD(crb_head, status, 4);
FIELD(crb_head, http_version, 8);
FIELD(crb_head, attempt, 12);
FIELD(crb_head, headers, 16);
FIELD(crb_head, header_count, 24);
FIELD(crb_head, url, 32);

SIZE(crb_chunk, 32);
FIELD(crb_chunk, flags, 4);
FIELD(crb_chunk, seq, 8);
FIELD(crb_chunk, bytes, 16);

SIZE(crb_result, 120);
FIELD(crb_result, flags, 4);
FIELD(crb_result, seq, 8);
FIELD(crb_result, json, 16);
FIELD(crb_result, data, 32);
FIELD(crb_result, errors, 48);
FIELD(crb_result, extensions, 64);
FIELD(crb_result, path, 80);
FIELD(crb_result, label, 96);
FIELD(crb_result, http_status, 112);

SIZE(crb_value, 32);
FIELD(crb_value, type, 0);
FIELD(crb_value, n, 8);
FIELD(crb_value, v, 16);

SIZE(crb_graphql_stage, 64);
FIELD(crb_graphql_stage, needs, 4);
FIELD(crb_graphql_stage, mutates, 8);
FIELD(crb_graphql_stage, on_request, 16);
FIELD(crb_graphql_stage, on_result, 24);
FIELD(crb_graphql_stage, on_error, 32);
FIELD(crb_graphql_stage, on_end, 40);
FIELD(crb_graphql_stage, on_cancel, 48);
FIELD(crb_graphql_stage, release, 56);

SIZE(crb_http_stage, 72);
FIELD(crb_http_stage, on_request, 16);
FIELD(crb_http_stage, on_head, 24);
FIELD(crb_http_stage, on_chunk, 32);
FIELD(crb_http_stage, on_error, 40);
FIELD(crb_http_stage, on_end, 48);
FIELD(crb_http_stage, on_cancel, 56);
FIELD(crb_http_stage, release, 64);

SIZE(crb_cache_stage, 64);
FIELD(crb_cache_stage, on_read, 16);
FIELD(crb_cache_stage, on_write, 24);
FIELD(crb_cache_stage, on_error, 32);
FIELD(crb_cache_stage, release, 56);

SIZE(crb_parser_stage, 72);
FIELD(crb_parser_stage, on_head, 16);
FIELD(crb_parser_stage, on_chunk, 24);
FIELD(crb_parser_stage, on_error, 32);
FIELD(crb_parser_stage, on_end, 40);
FIELD(crb_parser_stage, release, 56);
FIELD(crb_parser_stage, accept, 64);

SIZE(crb_host, 288);
FIELD(crb_host, name, 8);
FIELD(crb_host, features, 40);
FIELD(crb_host, self, 48);
FIELD(crb_host, query, 56);
FIELD(crb_host, buf_alloc, 64);
FIELD(crb_host, scratch, 112);
FIELD(crb_host, suspend, 120);
FIELD(crb_host, resume, 128);
FIELD(crb_host, emit, 160);
FIELD(crb_host, set_head, 184);
FIELD(crb_host, operation_type, 192);
FIELD(crb_host, headers, 208);
FIELD(crb_host, field_set, 240);
FIELD(crb_host, key, 248);
FIELD(crb_host, bag_set, 264);
FIELD(crb_host, log_enabled, 272);
FIELD(crb_host, log, 280);

SIZE(crb_timer_service, 32);
FIELD(crb_timer_service, now_ns, 8);
FIELD(crb_timer_service, arm, 16);
FIELD(crb_timer_service, cancel, 24);

SIZE(crb_fetch_request, 80);
FIELD(crb_fetch_request, timeout_ns, 8);
FIELD(crb_fetch_request, method, 16);
FIELD(crb_fetch_request, url, 32);
FIELD(crb_fetch_request, headers, 48);
FIELD(crb_fetch_request, header_count, 56);
FIELD(crb_fetch_request, body, 64);

SIZE(crb_fetch_service, 16);
FIELD(crb_fetch_service, start, 8);

SIZE(crb_store_answer, 32);
FIELD(crb_store_answer, count, 8);
FIELD(crb_store_answer, records, 16);

SIZE(crb_store_service, 40);
FIELD(crb_store_service, load, 8);
FIELD(crb_store_service, publish, 16);
FIELD(crb_store_service, remove, 24);
FIELD(crb_store_service, remove_matching, 32);

SIZE(crb_selftest, 24);
FIELD(crb_selftest, name, 8);
FIELD(crb_selftest, run, 16);

SIZE(crb_state, 24);
FIELD(crb_state, version, 4);
FIELD(crb_state, save, 8);
FIELD(crb_state, adopt, 16);

SIZE(crb_create_info, 72);
FIELD(crb_create_info, self, 8);
FIELD(crb_create_info, generation, 16);
FIELD(crb_create_info, entry_name, 24);
FIELD(crb_create_info, config_json, 40);
FIELD(crb_create_info, origin, 56);

SIZE(crb_interceptor, 128);
FIELD(crb_interceptor, thread_class, 4);
FIELD(crb_interceptor, id, 8);
FIELD(crb_interceptor, config_schema, 48);
FIELD(crb_interceptor, graphql, 56);
FIELD(crb_interceptor, parser, 80);
FIELD(crb_interceptor, validate, 88);
FIELD(crb_interceptor, create, 96);
FIELD(crb_interceptor, drain, 104);
FIELD(crb_interceptor, destroy, 112);
FIELD(crb_interceptor, extension, 120);

SIZE(crb_plugin, 40);
FIELD(crb_plugin, abi_major, 4);
FIELD(crb_plugin, abi_minor_built, 6);
FIELD(crb_plugin, abi_minor_required, 8);
FIELD(crb_plugin, count, 12);
FIELD(crb_plugin, items, 16);
FIELD(crb_plugin, init, 24);
FIELD(crb_plugin, deinit, 32);

_Static_assert(CRB_NOTE_TYPE == ('C' << 24 | 'R' << 16 | 'B' << 8 | '1'), "the type of the note spells CRB1");
SIZE(struct crb_note, 272);
FIELD(struct crb_note, name, 12);
FIELD(struct crb_note, desc, 16);
#endif
