/* Functions of the host: baggage and its keys. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "worker.h"

/* The names of keys, in a table that is searched by hash. */
enum { PLACES = 2 * MOST_KEYS };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name {
  uint8_t length;
  char text[MOST_KEY_BYTES];
} * *names;
static uint32_t *places, count;

static int is_well_formed(crb_view name) {
  if (!name.ptr || name.len == 0 || name.len > MOST_KEY_BYTES || !memchr(name.ptr, '.', name.len)) return 0;
  for (size_t index = 0; index < name.len; index++) {
    if (name.ptr[index] <= 0x20 || name.ptr[index] >= 0x7f) return 0;
  }
  return 1;
}

static uint32_t hash(crb_view name) {
  uint32_t value = 2166136261u;
  for (size_t index = 0; index < name.len; index++) value = (value ^ name.ptr[index]) * 16777619u;
  return value;
}

/* The place of a name, or the free one for it. */
static uint32_t *place_of(crb_view name) {
  uint32_t at = hash(name) % PLACES;
  while (places[at]) {
    const struct name *known = names[places[at] - 1];
    if (known->length == name.len && !memcmp(known->text, name.ptr, name.len)) break;
    at = (at + 1) % PLACES;
  }
  return &places[at];
}

/* Reports the key to the host before any snapshot needs its value. */
static crb_key add_key(uint32_t instance, crb_view name, uint32_t *place) {
  struct records message = {0};
  struct CCrossing_record record = {.kind = CCROSSING_LINE};
  struct name *made = count < MOST_KEYS ? malloc(sizeof *made) : NULL;
  if (!made || !add_record(&message, &record, (crb_view){NULL, 0}, name) ||
      ask(CCROSSING_KEY, instance, count + 1, 0, &message, 1) != CRB_OK) {
    free(made);
    free_records(&message);
    return 0;
  }
  free_records(&message);
  made->length = (uint8_t)name.len;
  memcpy(made->text, name.ptr, name.len);
  names[count] = made;
  return *place = ++count;
}

crb_key baggage_key(crb_self who, crb_view name) {
  if (!is_well_formed(name)) return 0;
  struct member member = {0};
  find_self(who, &member);
  crb_key key = 0;
  pthread_mutex_lock(&lock);
  if (!names) names = calloc(MOST_KEYS, sizeof *names);
  if (!places) places = calloc(PLACES, sizeof *places);
  if (names && places) {
    uint32_t *place = place_of(name);
    key = *place ? *place : add_key(member.instance, name, place);
  }
  pthread_mutex_unlock(&lock);
  return key;
}

static int is_key(crb_key key) {
  pthread_mutex_lock(&lock);
  int is_known = key > 0 && key <= count;
  pthread_mutex_unlock(&lock);
  return is_known;
}

static int has_bytes(uint32_t type) { return type >= CRB_VALUE_TEXT && type <= CRB_VALUE_JSON; }

/* The newest value in a scope among edits; NULL if there is none. */
static const struct CCrossing_record *find_newest(const struct records *records, crb_key key, uint32_t scope) {
  struct reader reader = {records->bytes, records->length};
  const struct CCrossing_record *record, *found = NULL;
  crb_view name, value;
  while ((record = next_record(&reader, &name, &value))) {
    if (record->kind == CCROSSING_BAG_SET && record->a == key && record->b >> 8 == scope) found = record;
  }
  return found;
}

/* The newest value that this hook, or a stage before it in the same crossing, set in a scope; NULL if none did. */
static const struct CCrossing_record *find_set(const struct call *call, crb_key key, uint32_t scope) {
  const struct CCrossing_record *own = find_newest(&call->edits.records, key, scope);
  return own ? own : find_newest(&call->earlier.records, key, scope);
}

static crb_status show(struct call *call, uint32_t type, uint64_t bits, crb_view bytes, crb_value *out) {
  *out = (crb_value){.type = type};
  out->n.i = (int64_t)bits;
  if (!has_bytes(type)) return CRB_OK;
  uint8_t *copy = allocate(&call->views, bytes.len ? bytes.len : 1, 1, SIZE_MAX / 4);
  if (!copy) return CRB_E_NOMEM;
  if (bytes.len) memcpy(copy, bytes.ptr, bytes.len);
  out->v = (crb_view){copy, bytes.len};
  return CRB_OK;
}

static crb_status find_value(struct call *call, crb_key key, crb_value *out) {
  const struct CCrossing_bag *bags = snapshot_bags(call), *bag = NULL;
  for (uint32_t index = 0; index < call->snapshot->bags && !bag; index++) {
    if (bags[index].key == key) bag = &bags[index];
  }
  const struct CCrossing_record *set = find_set(call, key, CRB_SCOPE_INNER);
  if (!set && !(bag && bag->type & CCROSSING_BAG_INNER)) set = find_set(call, key, CRB_SCOPE_CALL);
  if (set) {
    uint32_t type = set->b & 255;
    return type == CRB_VALUE_NONE ? CRB_E_NOTFOUND : show(call, type, set->number, record_value(set), out);
  }
  if (!bag) return CRB_E_NOTFOUND;
  uint32_t type = bag->type & 255;
  *out = (crb_value){.type = type};
  out->n.i = (int64_t)bag->bits;
  if (has_bytes(type)) out->v = snapshot_text(call, bag->bytes);
  return CRB_OK;
}

crb_status bag_get(crb_call handle, crb_key key, crb_value *out) {
  if (!out || !is_key(key)) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = find_value(call, key, out);
  leave(call);
  return status;
}

static crb_status set_value(struct call *call, crb_key key, uint32_t scope, const crb_value *value) {
  int hook = open_hook(call);
  if (scope == CRB_SCOPE_INNER && hook != CCROSSING_ON_REQUEST && hook != CCROSSING_ON_READ) return CRB_E_STATE;
  if (scope != CRB_SCOPE_INNER && scope != CRB_SCOPE_CALL) return CRB_E_INVAL;
  struct CCrossing_record record = {.kind = CCROSSING_BAG_SET, .a = key, .b = scope << 8 | value->type};
  crb_view bytes = {NULL, 0};
  if (has_bytes(value->type)) bytes = value->v.ptr && has_length(value->v) ? value->v : text_of("");
  else if (value->type == CRB_VALUE_BOOL) record.number = value->n.i != 0;
  else if (value->type != CRB_VALUE_NONE) record.number = (uint64_t)value->n.i;
  return stage(call, &record, (crb_view){NULL, 0}, bytes);
}

crb_status bag_set(crb_call handle, crb_key key, uint32_t scope, const crb_value *value) {
  if (!value || !is_key(key) || value->type > CRB_VALUE_JSON) return CRB_E_INVAL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return status;
  status = set_value(call, key, scope, value);
  leave(call);
  return status;
}
