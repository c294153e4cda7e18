// The arguments of hooks: results, heads, chunks and errors. Everything is borrowed until the hook completes.
#ifndef CARABINER_EVENTS_HPP
#define CARABINER_EVENTS_HPP

#include "values.hpp"

namespace crb {

/// One header field.
struct Header {
  std::string_view name;
  std::string_view value;
  /// Logs and traces redact the value.
  bool sensitive = false;
};

/// Header fields in order, including duplicates.
class Headers {
 public:
  Headers() noexcept = default;
  Headers(const crb_header *fields, size_t count) noexcept : fields_(fields), count_(fields ? count : 0) {}

  class Iterator {
   public:
    explicit Iterator(const crb_header *field) noexcept : field_(field) {}
    Header operator*() const noexcept { return {text(field_->name), text(field_->value), (field_->flags & CRB_HEADER_SENSITIVE) != 0}; }
    Iterator &operator++() noexcept {
      ++field_;
      return *this;
    }
    bool operator!=(const Iterator &other) const noexcept { return field_ != other.field_; }

   private:
    const crb_header *field_;
  };

  size_t size() const noexcept { return count_; }
  Iterator begin() const noexcept { return Iterator(fields_); }
  Iterator end() const noexcept { return Iterator(fields_ + count_); }

  /// The first value of a header, by case-insensitive name.
  std::optional<std::string_view> operator[](std::string_view name) const noexcept {
    for (const Header field : *this) {
      if (is_same(field.name, name)) return field.value;
    }
    return std::nullopt;
  }

 private:
  static bool is_same(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++) {
      if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
  }
  static char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

  const crb_header *fields_ = nullptr;
  size_t count_ = 0;
};

/// The head of a response. Headers are present if the stage needs them.
struct Head {
  explicit Head(const crb_head &head) noexcept
      : status(head.status), http_version(head.http_version), attempt(head.attempt), headers(head.headers, head.header_count),
        url(text(head.url)) {}

  uint32_t status;
  uint32_t http_version;
  uint32_t attempt;
  Headers headers;
  std::string_view url;
};

/// A piece of a response body.
struct Chunk {
  explicit Chunk(const crb_chunk &chunk) noexcept : seq(chunk.seq), bytes(text(chunk.bytes)) {}

  uint64_t seq;
  std::string_view bytes;
};

/// One result as raw JSON. Only the parts that the stage needs are present.
struct Result {
  explicit Result(const crb_result &result) noexcept
      : flags(result.flags), seq(result.seq), http_status(result.http_status), json(present(result.json)),
        data(present(result.data)), errors(present(result.errors)), extensions(present(result.extensions)),
        path(present(result.path)), label(present(result.label)) {}

  /// CRB_RESULT_*
  uint32_t flags;
  uint64_t seq;
  int32_t http_status;
  std::optional<std::string_view> json;
  std::optional<std::string_view> data;
  std::optional<std::string_view> errors;
  std::optional<std::string_view> extensions;
  std::optional<std::string_view> path;
  std::optional<std::string_view> label;

  /// Whether it was read from a cache.
  bool is_cached() const noexcept { return (flags & CRB_RESULT_CACHE) != 0; }
  /// Whether more results follow. For a subscription: whether more results are possible.
  bool has_next() const noexcept { return (flags & CRB_RESULT_HAS_NEXT) != 0; }
  /// Whether its new data was deferred or streamed.
  bool is_incremental() const noexcept { return (flags & CRB_RESULT_INCREMENTAL) != 0; }
  /// Whether a plugin made the result instead of a server. Caches do not store such results.
  bool is_synthetic() const noexcept { return (flags & CRB_RESULT_SYNTHETIC) != 0; }
};

/// The error of an inner stage.
struct Error {
  explicit Error(const crb_error &error) noexcept
      : code(error.code), flags(error.flags), http_status(error.http_status), retry_after_ns(error.retry_after_ns),
        domain(text(error.domain)), message(text(error.message)), detail_json(text(error.detail_json)),
        origin(text(error.origin)) {}

  int32_t code;
  /// CRB_ERROR_*
  uint32_t flags;
  int32_t http_status;
  uint64_t retry_after_ns;
  std::string_view domain;
  std::string_view message;
  std::string_view detail_json;
  /// The manifest entry that failed.
  std::string_view origin;

  /// Whether all of these flags are set: `error.has(CRB_ERROR_RETRYABLE)`
  bool has(uint32_t wanted) const noexcept { return (flags & wanted) == wanted; }
};

}  // namespace crb

#endif
