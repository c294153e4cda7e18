// The key of a response, and the bytes that are stored for it.
#ifndef REDIS_CACHE_ENTRY_HPP
#define REDIS_CACHE_ENTRY_HPP

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entry {

/// The parts of a request that a response depends on.
struct Request {
  std::optional<std::string_view> operation_name = {};
  std::optional<std::string_view> document = {};
  std::optional<std::string_view> variables = {};
  std::optional<std::string_view> extensions = {};
  /// The chosen headers, by name in lower case, in the order of the settings.
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> headers = {};
};

/// The SHA-256 of a request, as 64 digits. Requests whose variables differ only in the order of members have the same.
std::string digest(const Request &request);

/// The longest text of an epoch.
inline constexpr size_t maximum_epoch = 64;
/// The bytes of a stored response besides its JSON, at most.
inline constexpr size_t maximum_overhead = 16 + maximum_epoch;

/// The stored bytes of a response. An entry of another epoch is not valid.
std::string stored(std::string_view epoch, std::string_view json);

/// The JSON of stored bytes; nothing if they are of another epoch, damaged, or not from this plugin.
std::optional<std::string_view> json_of(std::string_view bytes, std::string_view epoch);

}  // namespace entry

#endif
