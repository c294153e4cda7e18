/* Signs requests and verifies responses with HMAC-SHA256. README.md defines the signed text. */
#include <carabiner.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.hmac-sign\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}");

enum { DIGEST = 32, MAXIMUM_KEY = 1024 };

static const crb_host *host;

typedef struct signer {
  crb_self self;
  size_t key_length;
  int requires_signature;
  unsigned char key[MAXIMUM_KEY];
} signer;

/* The verification of a response. */
typedef struct check {
  EVP_MAC_CTX *mac;
  unsigned char expected[DIGEST];
  int is_signed;
} check;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

static crb_verdict fail(crb_call call, const char *message) {
  crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static EVP_MAC_CTX *new_mac(const signer *s) {
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *mac = algorithm ? EVP_MAC_CTX_new(algorithm) : NULL;
  EVP_MAC_free(algorithm);
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0), OSSL_PARAM_construct_end()};
  if (mac && EVP_MAC_init(mac, s->key, s->key_length, parameters) != 1) {
    EVP_MAC_CTX_free(mac);
    return NULL;
  }
  return mac;
}

static void hexadecimal(const unsigned char *bytes, size_t count, char *out) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < count; i++) {
    out[2 * i] = digits[bytes[i] >> 4];
    out[2 * i + 1] = digits[bytes[i] & 15];
  }
  out[2 * count] = 0;
}

static int digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Reads "v1=" and 64 digits. Returns 0 if the text is anything else. */
static int read_signature(crb_view v, unsigned char out[DIGEST]) {
  if (v.len != 3 + 2 * DIGEST || memcmp(v.ptr, "v1=", 3) != 0) return 0;
  for (size_t i = 0; i < DIGEST; i++) {
    int high = digit(v.ptr[3 + 2 * i]), low = digit(v.ptr[4 + 2 * i]);
    if (high < 0 || low < 0) return 0;
    out[i] = (unsigned char)(high << 4 | low);
  }
  return 1;
}

/* The path and query of a URL: the part after the authority. */
static crb_view path_of(crb_view url) {
  size_t i = 0;
  while (i + 2 < url.len && memcmp(url.ptr + i, "://", 3) != 0) i++;
  for (i += 3; i < url.len && url.ptr[i] != '/' && url.ptr[i] != '?'; i++) {}
  if (i >= url.len) return text("/");
  return (crb_view){url.ptr + i, url.len - i};
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  const signer *s = inst;
  crb_view method, url, body = {NULL, 0};
  if (host->field_get(call, CRB_PART_METHOD, &method) != CRB_OK || host->field_get(call, CRB_PART_URL, &url) != CRB_OK)
    return fail(call, "the host does not show the request");
  crb_status status = host->field_get(call, CRB_PART_BODY, &body);
  if (status == CRB_E_UNSUPPORTED)
    return fail(call, "an upload is read while it is sent and cannot be signed; take this plugin out of the chain of uploads");
  if (status != CRB_OK && status != CRB_E_NOTFOUND) return fail(call, "the host does not show the body");

  unsigned char hash[DIGEST];
  if (EVP_Digest(body.ptr ? (const void *)body.ptr : "", body.len, hash, NULL, EVP_sha256(), NULL) != 1)
    return fail(call, "SHA-256 is not available in libcrypto");
  char body_hash[2 * DIGEST + 1], timestamp[32], signature[3 + 2 * DIGEST + 1] = "v1=";
  hexadecimal(hash, DIGEST, body_hash);
  snprintf(timestamp, sizeof timestamp, "%lld", (long long)time(NULL));

  EVP_MAC_CTX *mac = new_mac(s);
  if (!mac) return fail(call, "HMAC-SHA256 is not available in libcrypto");
  const crb_view parts[] = {method, path_of(url), text(timestamp), text(body_hash)};
  int good = 1;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    good = good && EVP_MAC_update(mac, parts[i].ptr, parts[i].len) == 1 && EVP_MAC_update(mac, (const unsigned char *)"\n", 1) == 1;
  size_t length = 0;
  good = good && EVP_MAC_final(mac, hash, &length, sizeof hash) == 1 && length == DIGEST;
  EVP_MAC_CTX_free(mac);
  if (!good) return fail(call, "libcrypto cannot compute the signature");
  hexadecimal(hash, DIGEST, signature + 3);

  if (host->header_set(call, text("X-Timestamp"), text(timestamp), 0) != CRB_OK ||
      host->header_set(call, text("X-Signature"), text(signature), 0) != CRB_OK)
    return fail(call, "the host does not take the signature headers");
  return CRB_CONTINUE;
}

static void drop_check(check *c) {
  if (!c) return;
  EVP_MAC_CTX_free(c->mac);
  free(c);
}

/* on_request only allocates the state. After a retry it still has the context of the earlier response, which is freed here. */
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  const signer *s = inst;
  check *c = state;
  crb_view value = {NULL, 0};
  EVP_MAC_CTX_free(c->mac);
  c->mac = NULL;
  c->is_signed = host->header_get(call, text("X-Signature"), &value) == CRB_OK;
  if (!c->is_signed) {
    return s->requires_signature ? fail(call, "the response is not signed, and the configuration requires it") : CRB_CONTINUE;
  }
  if (!read_signature(value, c->expected)) return fail(call, "the response's X-Signature is not v1= and 64 hexadecimal digits");
  c->mac = new_mac(s);
  char status[16];
  int n = snprintf(status, sizeof status, "%u\n", head->status);
  if (!c->mac || EVP_MAC_update(c->mac, (const unsigned char *)status, (size_t)n) != 1)
    return fail(call, "HMAC-SHA256 is not available in libcrypto");
  return CRB_CONTINUE;
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  check *c = state;
  if (c->mac && EVP_MAC_update(c->mac, chunk->bytes.ptr, chunk->bytes.len) != 1)
    return fail(call, "libcrypto cannot verify the response");
  return CRB_CONTINUE;
}

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  check *c = state;
  if (!c->mac) return CRB_CONTINUE;
  unsigned char actual[DIGEST];
  size_t length = 0;
  if (EVP_MAC_final(c->mac, actual, &length, sizeof actual) != 1 || length != DIGEST ||
      CRYPTO_memcmp(actual, c->expected, DIGEST) != 0)
    return fail(call, "the signature of the response is wrong: it was changed on its way, or signed with another key");
  return CRB_CONTINUE;
}

static crb_verdict start(void *inst, crb_call call, void **state) {
  if (!*state) *state = calloc(1, sizeof(check));
  if (!*state) return fail(call, "no memory");
  return on_request(inst, call, state);
}

static void release(void *inst, void *state) {
  (void)inst;
  drop_check(state);
}

static const crb_http_stage http = {
    .size = sizeof http,
    .needs = CRB_PART_HEADERS | CRB_PART_BODY | CRB_PART_URL | CRB_PART_METHOD | CRB_PART_CHUNK,
    .mutates = CRB_PART_HEADERS,
    .on_request = start,
    .on_head = on_head,
    .on_chunk = on_chunk,
    .on_end = on_end,
    .release = release};

/* Finds the value of a member of a flat JSON object. The host has already validated it with the schema. */
static int find(crb_view json, const char *name, crb_view *out) {
  char quoted[64];
  int n = snprintf(quoted, sizeof quoted, "\"%s\"", name);
  for (size_t i = 0; i + (size_t)n <= json.len; i++) {
    if (json.ptr[i] != '"') continue;
    size_t end = i + 1;
    while (end < json.len && json.ptr[end] != '"') end += json.ptr[end] == '\\' ? 2 : 1;
    if (end >= json.len) return 0;
    size_t length = end + 1 - i;
    size_t next = end + 1;
    while (next < json.len && (json.ptr[next] == ' ' || json.ptr[next] == ':')) next++;
    int is_key = next > end + 1 && memchr(json.ptr + end + 1, ':', next - end - 1) != NULL;
    if (is_key && length == (size_t)n && memcmp(json.ptr + i, quoted, length) == 0) {
      *out = (crb_view){json.ptr + next, json.len - next};
      return 1;
    }
    i = end;
  }
  return 0;
}

/* Copies a JSON string without quotes, with simple escapes replaced. Returns -1 if it is too long or has other escapes. */
static int read_string(crb_view v, unsigned char *out, size_t limit) {
  if (v.len == 0 || v.ptr[0] != '"') return -1;
  size_t n = 0;
  for (size_t i = 1; i < v.len; i++) {
    uint8_t c = v.ptr[i];
    if (c == '"') return (int)n;
    if (c == '\\') {
      if (++i >= v.len || (v.ptr[i] != '"' && v.ptr[i] != '\\' && v.ptr[i] != '/')) return -1;
      c = v.ptr[i];
    }
    if (n == limit) return -1;
    out[n++] = c;
  }
  return -1;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h;
  signer *s = calloc(1, sizeof *s);
  if (!s) return CRB_E_NOMEM;
  s->self = info->self;
  crb_view value;
  int length = find(info->config_json, "key", &value) ? read_string(value, s->key, MAXIMUM_KEY) : -1;
  if (length < 1) {
    why->message = text("key must be a text of 1 to 1024 bytes without control characters");
    free(s);
    return CRB_E_INVAL;
  }
  s->key_length = (size_t)length;
  s->requires_signature =
      find(info->config_json, "require-response-signature", &value) && value.len >= 4 && memcmp(value.ptr, "true", 4) == 0;
  *inst = s;
  return CRB_OK;
}

static void destroy(void *inst) {
  OPENSSL_cleanse(inst, sizeof(signer));
  free(inst);
}

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"key\"],\"properties\":{"
    "\"key\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024},"
    "\"require-response-signature\":{\"type\":\"boolean\"}}}";

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.hmac-sign",
                                            .version = "1.0.0",
                                            .name = "HMAC signatures",
                                            .config_schema = schema,
                                            .http = &http,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
