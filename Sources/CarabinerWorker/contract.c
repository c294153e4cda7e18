/* The permissions of each hook: sections 4 and 5 of carabiner.h, as in Sources/CarabinerABI/Contract.swift. */
#define _GNU_SOURCE
#include "worker.h"

#define REQUEST (1u << CCROSSING_ON_REQUEST)
#define RESULT (1u << CCROSSING_ON_RESULT)
#define HEAD (1u << CCROSSING_ON_HEAD)
#define CHUNK (1u << CCROSSING_ON_CHUNK)
#define READ (1u << CCROSSING_ON_READ)
#define WRITE (1u << CCROSSING_ON_WRITE)
#define FAILED (1u << CCROSSING_ON_ERROR)
#define END (1u << CCROSSING_ON_END)

enum { COLUMNS = 8, ROWS = 6, BOTH = MAY_READ | MAY_WRITE };

static const struct {
  int kind;
  uint32_t hooks;
} columns[COLUMNS] = {
    {KIND_GRAPHQL, REQUEST}, {KIND_GRAPHQL, RESULT | FAILED | END}, {KIND_CACHE, READ | WRITE}, {KIND_HTTP, REQUEST},
    {KIND_HTTP, HEAD},       {KIND_HTTP, CHUNK | END},              {KIND_HTTP, FAILED},        {KIND_PARSING, HEAD | CHUNK | END | FAILED},
};

static const struct {
  uint32_t parts;
  uint8_t rights[COLUMNS];
} rows[ROWS] = {
    {CRB_PART_HEADERS, {BOTH, MAY_READ, MAY_READ, BOTH, BOTH, MAY_READ, MAY_READ, MAY_READ}},
    {CRB_PART_BODY | CRB_PART_URL | CRB_PART_METHOD, {0, 0, 0, BOTH, MAY_READ, MAY_READ, MAY_READ, 0}},
    {CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS, {BOTH, MAY_READ, MAY_READ, 0, 0, 0, 0, 0}},
    {CRB_PART_OPERATION_NAME, {MAY_READ, MAY_READ, MAY_READ, 0, 0, 0, 0, MAY_READ}},
    {CRB_PART_JSON | CRB_PART_DATA | CRB_PART_ERRORS, {0, IS_EVENT, IS_EVENT, 0, 0, 0, 0, IS_EVENT}},
    {CRB_PART_CHUNK, {0, 0, 0, 0, 0, IS_EVENT, 0, IS_EVENT}},
};

unsigned rights(uint32_t part, int hook, int kind) {
  for (int row = 0; row < ROWS; row++) {
    if (!(rows[row].parts & part)) continue;
    for (int column = 0; column < COLUMNS; column++) {
      if (columns[column].kind == kind && columns[column].hooks >> hook & 1) return rows[row].rights[column];
    }
  }
  return 0;
}

int sees_response(int hook, int kind) {
  if (kind == KIND_HTTP) return hook != CCROSSING_ON_REQUEST && hook != CCROSSING_ON_ERROR;
  return kind == KIND_PARSING;
}

int may_emit(int results, int hook, int kind) {
  static const uint32_t allowed[KINDS] = {
      [KIND_GRAPHQL] = REQUEST | RESULT | FAILED | END,
      [KIND_CACHE] = READ,
      [KIND_HTTP] = REQUEST | CHUNK | END,
      [KIND_PARSING] = HEAD | CHUNK | FAILED | END,
  };
  return results == (kind != KIND_HTTP) && (allowed[kind] >> hook & 1);
}

uint32_t replaced_part(int hook, int kind) {
  if (kind == KIND_GRAPHQL && hook == CCROSSING_ON_RESULT) return CRB_PART_JSON;
  return kind == KIND_HTTP && hook == CCROSSING_ON_CHUNK ? CRB_PART_CHUNK : 0;
}

int may_set_head(int hook, int kind) { return kind == KIND_HTTP && (hook == CCROSSING_ON_REQUEST || hook == CCROSSING_ON_HEAD); }
