// Bytes, text and baggage values.
#ifndef CARABINER_VALUES_HPP
#define CARABINER_VALUES_HPP

#include <carabiner.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "failure.hpp"

namespace crb {

/// The host's table; the entry function sets it before anything else runs.
inline const crb_host *table = nullptr;

/// An absent value, which differs from an empty text.
inline constexpr crb_view absent{nullptr, 0};

/// A view of bytes that must outlive the view.
inline crb_view view(std::string_view text) noexcept {
  // An empty text is present: its pointer must not be NULL.
  return {reinterpret_cast<const uint8_t *>(text.data() ? text.data() : ""), text.size()};
}

/// The bytes of a view; empty if it is absent.
inline std::string_view text(crb_view bytes) noexcept {
  return bytes.ptr ? std::string_view(reinterpret_cast<const char *>(bytes.ptr), bytes.len) : std::string_view();
}

/// The bytes of a view, or nothing if it is absent.
inline std::optional<std::string_view> present(crb_view bytes) noexcept {
  if (!bytes.ptr) return std::nullopt;
  return text(bytes);
}

/// A reference to counted bytes.
class Buffer {
 public:
  Buffer() = default;
  /// Copies `bytes`.
  Buffer(crb_self who, std::string_view bytes) {
    uint8_t *target = nullptr;
    handle_ = table->buf_alloc(who, bytes.size(), &target);
    if (!handle_) throw std::bad_alloc();
    if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
  }
  /// Wraps a container with data() and size() without copying. The container is destroyed with the last reference, on any
  /// thread.
  template <class Bytes>
  static Buffer adopting(crb_self who, Bytes bytes) {
    auto owner = std::make_unique<Bytes>(std::move(bytes));
    Buffer buffer;
    buffer.handle_ = table->buf_adopt(
        who, owner->data(), owner->size(), [](void *user) { delete static_cast<Bytes *>(user); }, owner.get());
    if (!buffer.handle_) throw std::bad_alloc();
    owner.release();
    return buffer;
  }
  Buffer(const Buffer &other) : handle_(other.handle_) {
    if (handle_) detail::check(table->buf_retain(handle_), "another reference to a buffer");
  }
  Buffer(Buffer &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Buffer &operator=(Buffer other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Buffer() {
    if (handle_) table->buf_release(handle_);
  }

  /// The bytes, valid as long as this object.
  std::string_view bytes() const noexcept { return handle_ ? text(table->buf_view(handle_)) : std::string_view(); }

  /// A part of the bytes, without a copy.
  Buffer slice(size_t offset, size_t count) const {
    Buffer part;
    part.handle_ = table->buf_slice(handle_, offset, count);
    if (!part.handle_) throw Failure("the range lies outside of the buffer");
    return part;
  }

  /// Passes the reference to a host function that consumes it.
  crb_buf take() noexcept { return std::exchange(handle_, 0); }

 private:
  crb_buf handle_ = 0;
};

/// A baggage value. Text, bytes and JSON are borrowed: from the host until the hook completes, or from the plugin.
class Value {
 public:
  Value() noexcept = default;
  explicit Value(const crb_value &raw) noexcept : raw_(raw) {}

  static Value boolean(bool value) noexcept { return number(CRB_VALUE_BOOL, value ? 1 : 0); }
  static Value integer(int64_t value) noexcept { return number(CRB_VALUE_I64, value); }
  static Value real(double value) noexcept {
    Value made;
    made.raw_.type = CRB_VALUE_F64;
    made.raw_.n.f = value;
    return made;
  }
  static Value text(std::string_view value) noexcept { return slice(CRB_VALUE_TEXT, value); }
  static Value bytes(std::string_view value) noexcept { return slice(CRB_VALUE_BYTES, value); }
  static Value json(std::string_view value) noexcept { return slice(CRB_VALUE_JSON, value); }

  /// CRB_VALUE_*
  uint32_t type() const noexcept { return raw_.type; }
  std::optional<bool> as_boolean() const noexcept { return is(CRB_VALUE_BOOL) ? std::optional(raw_.n.i != 0) : std::nullopt; }
  std::optional<int64_t> as_integer() const noexcept { return is(CRB_VALUE_I64) ? std::optional(raw_.n.i) : std::nullopt; }
  std::optional<double> as_real() const noexcept { return is(CRB_VALUE_F64) ? std::optional(raw_.n.f) : std::nullopt; }
  std::optional<std::string_view> as_text() const noexcept { return slice(CRB_VALUE_TEXT); }
  std::optional<std::string_view> as_bytes() const noexcept { return slice(CRB_VALUE_BYTES); }
  std::optional<std::string_view> as_json() const noexcept { return slice(CRB_VALUE_JSON); }

  const crb_value &raw() const noexcept { return raw_; }

 private:
  bool is(uint32_t type) const noexcept { return raw_.type == type; }
  std::optional<std::string_view> slice(uint32_t type) const noexcept {
    return is(type) ? std::optional(crb::text(raw_.v)) : std::nullopt;
  }
  static Value slice(uint32_t type, std::string_view value) noexcept {
    Value made;
    made.raw_.type = type;
    made.raw_.v = view(value);
    return made;
  }
  static Value number(uint32_t type, int64_t value) noexcept {
    Value made;
    made.raw_.type = type;
    made.raw_.n.i = value;
    return made;
  }

  crb_value raw_{};
};

}  // namespace crb

#endif
