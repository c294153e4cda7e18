/* Reads the tables that a plugin registers, with the checks of RegistrationReader.swift. */
#define _GNU_SOURCE
#include <string.h>

#include "worker.h"

/* A copy of a table up to its own size (R1); the rest is zero. */
#define COPY(to, from) memcpy(&(to), (from), (from)->size < sizeof(to) ? (from)->size : sizeof(to))

#define SLOT(operation, function) to->hooks[operation] = (void (*)(void))(function)

/* The parts that all stages have. */
#define FILL(table)                         \
  to->exists = 1;                           \
  to->needs = (table).needs;                \
  to->mutates = (table).mutates;            \
  to->on_cancel = (table).on_cancel;        \
  to->release = (table).release;            \
  SLOT(CCROSSING_ON_ERROR, (table).on_error); \
  SLOT(CCROSSING_ON_END, (table).on_end)

static void read_graphql(const crb_graphql_stage *from, struct stage *to) {
  crb_graphql_stage table = {0};
  COPY(table, from);
  FILL(table);
  SLOT(CCROSSING_ON_REQUEST, table.on_request);
  SLOT(CCROSSING_ON_RESULT, table.on_result);
}

static void read_cache(const crb_cache_stage *from, struct stage *to) {
  crb_cache_stage table = {0};
  COPY(table, from);
  FILL(table);
  SLOT(CCROSSING_ON_READ, table.on_read);
  SLOT(CCROSSING_ON_WRITE, table.on_write);
}

static void read_http(const crb_http_stage *from, struct stage *to) {
  crb_http_stage table = {0};
  COPY(table, from);
  FILL(table);
  SLOT(CCROSSING_ON_REQUEST, table.on_request);
  SLOT(CCROSSING_ON_HEAD, table.on_head);
  SLOT(CCROSSING_ON_CHUNK, table.on_chunk);
}

static void read_parser(const crb_parser_stage *from, struct stage *to) {
  crb_parser_stage table = {0};
  COPY(table, from);
  FILL(table);
  SLOT(CCROSSING_ON_HEAD, table.on_head);
  SLOT(CCROSSING_ON_CHUNK, table.on_chunk);
  to->accept = table.accept;
}

/* Whether a text is present, shorter than the limit, and UTF-8. */
static int is_text(const char *text, size_t limit) {
  if (!text) return 0;
  size_t length = strnlen(text, limit);
  return length < limit && is_utf8((crb_view){(const uint8_t *)text, length});
}

/* A reverse-DNS name. */
static int is_identifier(const char *text) {
  size_t labels = 1, length = 0, total = strlen(text);
  if (total > 128) return 0;
  for (; *text; text++) {
    char byte = *text;
    int is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
    if (byte == '.' && length == 0) return 0;
    if (byte == '.') labels++, length = 0;
    else if (is_letter || byte == '-' || byte == '_') length++;
    else return 0;
  }
  return labels >= 2 && length > 0;
}

static const char *check_stages(const struct interceptor *of) {
  static const struct {
    int operation;
    const char *missing;
  } first[KINDS] = {
      [KIND_GRAPHQL] = {CCROSSING_ON_REQUEST, "an interceptor leaves the mandatory slot graphql.on_request NULL"},
      [KIND_CACHE] = {CCROSSING_ON_READ, "an interceptor leaves the mandatory slot cache.on_read NULL"},
      [KIND_HTTP] = {CCROSSING_ON_REQUEST, "an interceptor leaves the mandatory slot http.on_request NULL"},
      [KIND_PARSING] = {CCROSSING_ON_HEAD, "an interceptor leaves the mandatory slot parser.on_head NULL"},
  };
  int count = 0;
  for (int kind = 0; kind < KINDS; kind++) {
    if (!of->stages[kind].exists) continue;
    count++;
    if (!of->stages[kind].hooks[first[kind].operation]) return first[kind].missing;
  }
  return count > 0 ? NULL : "an interceptor has no stage";
}

const char *read_interceptor(const crb_interceptor *from, struct interceptor *to) {
  if (!from) return "an interceptor is NULL";
  if (from->size < offsetof(crb_interceptor, create) + sizeof from->create) return "the size of an interceptor is too small";
  COPY(to->table, from);
  const crb_interceptor *table = &to->table;
  if (!is_text(table->id, MOST_TEXT_BYTES) || !is_identifier(table->id)) return "the id of an interceptor is not a reverse-DNS name";
  if (!is_text(table->version, MOST_TEXT_BYTES) || !*table->version) return "an interceptor has no version";
  if (table->thread_class < CRB_THREADS_PER_CALL || table->thread_class > CRB_THREADS_CONCURRENT) {
    return "an interceptor has an unknown thread class";
  }
  if (!table->create) return "an interceptor has no create function";
  if (table->graphql) read_graphql(table->graphql, &to->stages[KIND_GRAPHQL]);
  if (table->cache) read_cache(table->cache, &to->stages[KIND_CACHE]);
  if (table->http) read_http(table->http, &to->stages[KIND_HTTP]);
  if (table->parser) read_parser(table->parser, &to->stages[KIND_PARSING]);
  const char *accept = to->stages[KIND_PARSING].accept;
  if (accept && !is_text(accept, CRB_ACCEPT_MAX + 1)) return "the text accept of a parser is not a list of media types, or is too long";
  return check_stages(to);
}

static void describe_text(struct records *answer, uint32_t which, const char *text, size_t limit) {
  struct CCrossing_record record = {.kind = CCROSSING_TEXT, .a = which};
  if (is_text(text, limit)) add_record(answer, &record, (crb_view){NULL, 0}, text_of(text));
}

static void describe_stage(struct records *answer, uint32_t kind, const struct stage *stage) {
  uint32_t filled = 0;
  for (int hook = 0; hook < HOOKS; hook++) filled |= stage->hooks[hook] ? 1u << hook : 0;
  if (stage->release) filled |= 1u << CCROSSING_RELEASE;
  if (stage->on_cancel) filled |= 1u << 31;
  struct CCrossing_record record = {
      .kind = CCROSSING_STAGE, .a = kind, .b = filled, .number = (uint64_t)stage->needs << 32 | stage->mutates};
  add_record(answer, &record, (crb_view){NULL, 0}, (crb_view){NULL, 0});
}

void describe(const struct interceptor *interceptor, struct records *answer) {
  const crb_interceptor *table = &interceptor->table;
  uint32_t has = (table->validate ? CCROSSING_HAS_VALIDATE : 0) | (table->drain ? CCROSSING_HAS_DRAIN : 0);
  if (table->extension && table->thread_class != CRB_THREADS_PER_CALL) has |= CCROSSING_HAS_STATE;
  struct CCrossing_record record = {.kind = CCROSSING_INTERCEPTOR, .a = table->thread_class, .b = has};
  add_record(answer, &record, text_of(table->id), text_of(table->version));
  describe_text(answer, CCROSSING_TEXT_NAME, table->name, MOST_TEXT_BYTES);
  describe_text(answer, CCROSSING_TEXT_VENDOR, table->vendor, MOST_TEXT_BYTES);
  describe_text(answer, CCROSSING_TEXT_URL, table->url, MOST_TEXT_BYTES);
  describe_text(answer, CCROSSING_TEXT_SCHEMA, table->config_schema, MOST_SCHEMA_BYTES);
  describe_text(answer, CCROSSING_TEXT_ACCEPT, interceptor->stages[KIND_PARSING].accept, CRB_ACCEPT_MAX + 1);
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    if (interceptor->stages[kind].exists) describe_stage(answer, kind, &interceptor->stages[kind]);
  }
}
