// How long a response may be kept, by the fields of its HTTP response.
#ifndef REDIS_CACHE_FRESHNESS_HPP
#define REDIS_CACHE_FRESHNESS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

namespace freshness {

/// The seconds that fields Cache-Control allow a shared cache. Add each field, then read `seconds`.
class CacheControl {
 public:
  void add(std::string_view field);
  /// Zero: it must not be kept. Nothing: the server did not say.
  std::optional<int64_t> seconds() const;

 private:
  void add_directive(std::string_view directive);

  bool is_forbidden_ = false;
  std::optional<int64_t> age_;
  std::optional<int64_t> shared_age_;
};

}  // namespace freshness

#endif
