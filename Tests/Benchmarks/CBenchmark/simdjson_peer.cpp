// The fastest known JSON reader, for comparison with ours.
#include "carabiner_benchmark.h"
#include <cstring>
#include <simdjson.h>

extern "C" const size_t bench_json_padding = simdjson::SIMDJSON_PADDING;

namespace {

long count(simdjson::ondemand::value value) {
  long seen = 1;
  switch (value.type()) {
  case simdjson::ondemand::json_type::object:
    for (auto field : value.get_object()) seen += count(field.value());
    break;
  case simdjson::ondemand::json_type::array:
    for (auto element : value.get_array()) seen += count(element.value());
    break;
  default: break;
  }
  return seen;
}

} // namespace

extern "C" long bench_simdjson(const char *text, size_t length, int on_demand) {
  try {
    if (on_demand) {
      thread_local simdjson::ondemand::parser parser;
      auto document = parser.iterate(text, length, length + simdjson::SIMDJSON_PADDING);
      return count(document["data"].value());
    }
    thread_local simdjson::dom::parser parser;
    simdjson::dom::element element = parser.parse(text, length, false);
    return element.is_object() ? static_cast<long>(element.get_object().size()) : 1;
  } catch (const simdjson::simdjson_error &) {
    return -1;
  }
}

extern "C" size_t bench_memchr(const void *bytes, size_t length, int byte) {
  size_t found = 0;
  auto *place = static_cast<const char *>(bytes);
  auto *end = place + length;
  while (place < end && (place = static_cast<const char *>(std::memchr(place, byte, static_cast<size_t>(end - place))))) {
    found++;
    place++;
  }
  return found;
}
