// JSON texts: a check, and one form for texts that differ only in spaces and in the order of members.
#ifndef REDIS_CACHE_JSON_HPP
#define REDIS_CACHE_JSON_HPP

#include <optional>
#include <string>
#include <string_view>

namespace json {

/// Whether a text is one JSON object, in valid UTF-8, and nested at most 256 levels deep.
bool is_object(std::string_view text);

/// A value without spaces, with the members of each object sorted. Nothing if the text is not JSON, or nested more than 64 levels deep.
/// Members of the same name keep their order, so different values have different forms.
std::optional<std::string> canonical(std::string_view text);

}  // namespace json

#endif
