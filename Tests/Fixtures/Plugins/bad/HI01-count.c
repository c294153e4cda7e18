/* A parser for maps and texts in MessagePack that makes room for all members that a map announces, and aborts if it gets none. */
/* STATUS: CRASH */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define NOTE "{\"id\":\"org.carabiner.test.bad\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"abort\"]}"
#include "host.h"

enum { MAP, TEXT, NUMBER, MOST_BYTES = 1 << 16, MOST_LEVELS = 64 };
typedef struct {
  size_t used;
  uint8_t body[MOST_BYTES];
} reading;
typedef struct {
  const uint8_t *p, *end;
} cursor;
/* A value: a map or a text of at most 31 bytes with its count, or a number of 7 bits. */
typedef struct node {
  crb_view name;
  uint32_t kind, count;
  union {
    const uint8_t *text;
    struct node *members;
  };
} node;

static int read_head(cursor *c, node *n) {
  if (c->p >= c->end) return 0;
  const uint8_t first = *c->p++;
  const int size = first == 0xDE ? 2 : first == 0xDF ? 4 : 0;
  if ((first >= 0xC0 && !size) || (first & 0xF0) == 0x90 || c->end - c->p < size) return 0;
  n->kind = first < 0x80 ? NUMBER : first < 0x90 || first >= 0xDE ? MAP : TEXT;
  n->count = size ? 0 : n->kind == NUMBER ? first : first & (n->kind == MAP ? 0x0F : 0x1F);
  for (int i = 0; i < size; i++) n->count = n->count << 8 | *c->p++;
  if (n->kind != TEXT) return 1;
  n->text = c->p;
  if ((size_t)(c->end - c->p) < n->count) return 0;
  c->p += n->count;
  return 1;
}
/* Also after a failure everything that was read is freed with the node. */
static int read_node(cursor *c, node *n, int levels) {
  if (!read_head(c, n)) return n->kind = NUMBER, 0;
  if (n->kind != MAP) return 1;
  const uint32_t count = n->count;
  if (!(n->members = malloc(count * sizeof *n))) abort();
  for (n->count = 0; n->count < count;) {
    node *member = &n->members[n->count++], name;
    *member = (node){.kind = NUMBER};
    if (levels == MOST_LEVELS || !read_head(c, &name) || name.kind != TEXT) return 0;
    member->name = (crb_view){name.text, name.count};
    if (!read_node(c, member, levels + 1)) return 0;
  }
  return 1;
}
static void free_node(node *n) {
  if (n->kind != MAP) return;
  for (uint32_t i = 0; i < n->count; i++) free_node(&n->members[i]);
  free(n->members);
}
static void print_text(FILE *out, const uint8_t *text, size_t count) {
  fputc('"', out);
  for (size_t i = 0; i < count; i++) fprintf(out, text[i] < 0x20 || strchr("\"\\", text[i]) ? "\\u%04x" : "%c", text[i]);
  fputc('"', out);
}
static void print(FILE *out, const node *n) {
  if (n->kind == NUMBER) fprintf(out, "%u", n->count);
  if (n->kind == TEXT) print_text(out, n->text, n->count);
  for (uint32_t i = 0; n->kind == MAP && i < n->count; i++) {
    fputc(i ? ',' : '{', out);
    print_text(out, n->members[i].name.ptr, n->members[i].name.len);
    fputc(':', out);
    print(out, &n->members[i]);
  }
  if (n->kind == MAP) fputs(n->count ? "}" : "{}", out);
}
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (name.len != 12 || strncasecmp((const char *)name.ptr, "content-type", 12) != 0) continue;
    if (value.len != 19 || strncasecmp((const char *)value.ptr, "application/msgpack", 19) != 0) return CRB_DROP;
    if (!*state) *state = malloc(sizeof(reading));
    if (!*state) return CRB_E_NOMEM;
    ((reading *)*state)->used = 0;
    return CRB_CONTINUE;
  }
  return CRB_DROP;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  reading *r = state;
  if (chunk->bytes.len > MOST_BYTES - r->used) return CRB_E_LIMIT;
  if (chunk->bytes.len) memcpy(r->body + r->used, chunk->bytes.ptr, chunk->bytes.len);
  r->used += chunk->bytes.len;
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  reading *r = state;
  char *json = NULL;
  size_t length;
  node root;
  cursor c = {r->body, r->body + r->used};
  const int is_whole = read_node(&c, &root, 0) && root.kind == MAP && c.p == c.end;
  FILE *out = is_whole ? open_memstream(&json, &length) : NULL;
  if (out) print(out, &root);
  free_node(&root);
  crb_verdict verdict = out && fclose(out) == 0 && emit(call, CRB_EMIT_RESULT, json, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
  free(json);
  return verdict;
}
#define PARSER_ON_HEAD on_head
#define PARSER_ON_CHUNK on_chunk
#define PARSER_ON_END on_end
#define STAGES STAGE_PARSER
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
