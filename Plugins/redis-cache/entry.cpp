#include "entry.hpp"

#include <openssl/evp.h>

#include <stdexcept>

#include "json.hpp"

namespace entry {
namespace {

/// The layout of keys and entries. Another one must not read these.
constexpr std::string_view layout = "carabiner-redis-cache-1";
constexpr std::string_view mark = "CRB1";

/// Each part is preceded by its length, so that no two requests have the same bytes.
void append(std::string &out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}
void append(std::string &out, std::optional<std::string_view> part) {
  if (part) append(out, *part);
  else out += '-';
}
/// JSON that cannot be sorted is used as it is.
void append_json(std::string &out, std::optional<std::string_view> text) {
  const auto sorted = text ? json::canonical(*text) : std::nullopt;
  out += sorted ? 's' : 'r';
  append(out, sorted ? std::optional<std::string_view>(*sorted) : text);
}

}  // namespace

std::string digest(const Request &request) {
  std::string bytes;
  append(bytes, layout);
  append(bytes, request.operation_name);
  append(bytes, request.document);
  append_json(bytes, request.variables);
  append_json(bytes, request.extensions);
  for (const auto &[name, values] : request.headers) {
    append(bytes, name);
    bytes += std::to_string(values.size()) + ';';
    for (const std::string_view value : values) append(bytes, value);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), sum.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("libcrypto has no SHA-256");
  }
  std::string text;
  for (unsigned index = 0; index < length; index++) {
    text += "0123456789abcdef"[sum[index] >> 4];
    text += "0123456789abcdef"[sum[index] & 15];
  }
  return text;
}

std::string stored(std::string_view epoch, std::string_view json) {
  std::string bytes(mark);
  bytes.reserve(maximum_overhead + json.size());
  append(bytes, epoch);
  bytes += json;
  return bytes;
}

std::optional<std::string_view> json_of(std::string_view bytes, std::string_view epoch) {
  const std::string head = stored(epoch, {});
  if (bytes.substr(0, head.size()) != head) return std::nullopt;
  bytes.remove_prefix(head.size());
  // A server is not trusted: text that is not a JSON object would fail the operation.
  if (!json::is_object(bytes)) return std::nullopt;
  return bytes;
}

}  // namespace entry
