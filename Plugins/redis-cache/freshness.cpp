#include "freshness.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace freshness {
namespace {

/// Longer times count as this one, in seconds.
constexpr int64_t maximum_age = 86400;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// An age that is not a number is none: RFC 9111 calls such a response stale.
int64_t age(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end != text.data() + text.size() || text.empty()) return 0;
  if (error == std::errc::result_out_of_range) return maximum_age;
  return error == std::errc() ? static_cast<int64_t>(std::min<uint64_t>(seconds, maximum_age)) : 0;
}

}  // namespace

void CacheControl::add(std::string_view field) {
  // A comma within quotes ends a directive too soon. The pieces are then unknown directives, which change nothing.
  while (!field.empty()) {
    const size_t comma = std::min(field.find(','), field.size());
    add_directive(trimmed(field.substr(0, comma)));
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
}

void CacheControl::add_directive(std::string_view directive) {
  const size_t equals = std::min(directive.find('='), directive.size());
  std::string name(trimmed(directive.substr(0, equals)));
  for (char &letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
  }
  const std::string_view value = equals < directive.size() ? trimmed(directive.substr(equals + 1)) : std::string_view();
  if (name == "no-store" || name == "no-cache" || name == "private") is_forbidden_ = true;
  // Of several ages the shortest counts.
  if (name == "max-age") age_ = std::min(age_.value_or(maximum_age), age(value));
  if (name == "s-maxage") shared_age_ = std::min(shared_age_.value_or(maximum_age), age(value));
}

std::optional<int64_t> CacheControl::seconds() const {
  if (is_forbidden_) return 0;
  return shared_age_ ? shared_age_ : age_;
}

}  // namespace freshness
