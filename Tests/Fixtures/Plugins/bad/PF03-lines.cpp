// Quadratic time: each chunk searches and copies the whole text so far.
// ONLY: PF03
// Reads application/x-ndjson: each line is a result.
#include <carabiner.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

class Interceptor {
 public:
  static constexpr crb::Identity identity = crb::Identity{"org.example.line-parser", "1.0.0"};
  static constexpr crb::Parts parser{CRB_PART_HEADERS | CRB_PART_CHUNK, 0};
  static constexpr const char *accept = "application/x-ndjson;q=0.4";

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  crb::Verdict on_head(crb::parser::Call &call, const crb::Head &head) {
    const auto type = head.headers["Content-Type"];
    if (head.status / 100 != 2 || !type || !is_mine(*type)) return crb::Verdict::Drop;
    Text &text = call.make_state<Text>();
    text = Text();
    return crb::Verdict::Continue;
  }

  void on_chunk(crb::parser::Call &call, const crb::Chunk &chunk) {
    Text &text = *call.state<Text>();
    if (chunk.bytes.size() > maximum_bytes - text.rest.size()) throw crb::Failure("a line is longer than 16 MiB");
    text.rest = text.rest + std::string(chunk.bytes);
    while (true) {
      size_t end = 0;
      while (end < text.rest.size() && text.rest[end] != '\n') end++;
      if (end == text.rest.size()) break;
      take(call, text, text.rest.substr(0, end));
      text.rest = text.rest.substr(end + 1);
    }
  }

  // The last line needs no line end.
  void on_end(crb::parser::Call &call) {
    Text &text = *call.state<Text>();
    take(call, text, text.rest);
    if (host_.keeps(crb::Level::Debug)) call.log(crb::Level::Debug, std::to_string(text.lines) + " lines");
  }

 private:
  static constexpr size_t maximum_bytes = 16 << 20;
  struct Text {
    std::string rest;
    unsigned lines = 0;
  };

  static void take(crb::parser::Call &call, Text &text, const std::string &line) {
    const size_t start = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
    if (start == line.npos) return;
    text.lines++;
    call.emit(std::string_view(line).substr(start, end - start + 1));
  }

  static bool is_mine(std::string_view type) {
    constexpr std::string_view mine = "application/x-ndjson";
    if (type.size() < mine.size()) return false;
    for (size_t i = 0; i < mine.size(); i++) {
      const char c = type[i] >= 'A' && type[i] <= 'Z' ? static_cast<char>(type[i] + 32) : type[i];
      if (c != mine[i]) return false;
    }
    return type.size() == mine.size() || std::string_view("; \t").find(type[mine.size()]) != std::string_view::npos;
  }

  const crb::Host host_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
