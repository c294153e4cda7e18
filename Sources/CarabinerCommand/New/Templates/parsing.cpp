// my-plugin reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
//
// Use it as the start of your own parser: on_head selects the responses, on_chunk collects the body, on_end converts it into a
// GraphQL response. Chunks may end anywhere in the body. Hooks of different calls run at the same time on the host's threads, and
// mutable data belongs to one call. An exception in a hook fails its call.
#include <carabiner.hpp>

#include <cctype>
#include <string>

namespace {

// The largest body that is kept in memory.
constexpr size_t maximum_bytes = 16 << 20;

// One per manifest entry.
class Interceptor {
 public:
  static constexpr crb::Identity identity{"org.example.my-plugin", "1.0.0"};
  // Hooks can read only the parts named here.
  static constexpr crb::Parts parser{CRB_PART_HEADERS | CRB_PART_CHUNK};

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  // Continue takes the response, Drop leaves it to the next parser.
  crb::Verdict on_head(crb::parser::Call &call, const crb::Head &head) {
    const auto type = head.headers["Content-Type"];
    if (head.status / 100 != 2 || !type || !is_plain_text(*type)) return crb::Verdict::Drop;
    call.make_state<Body>().bytes.clear();  // a retry has a new response, so the old body is discarded
    return crb::Verdict::Continue;
  }

  // Called for each chunk of the body.
  void on_chunk(crb::parser::Call &call, const crb::Chunk &chunk) {
    std::string &bytes = call.state<Body>()->bytes;
    if (chunk.bytes.size() > maximum_bytes - bytes.size()) throw crb::Failure("the text is longer than 16 MiB");
    bytes += chunk.bytes;
  }

  // The body is complete. The host validates the emitted JSON. If it is not UTF-8, the call fails.
  void on_end(crb::parser::Call &call) {
    call.emit(R"({"data":{"text":")" + escaped(call.state<Body>()->bytes) + R"("}})");
    if (host_.keeps(crb::Level::Info)) call.log(crb::Level::Info, "read a text");
  }

 private:
  // One per call; freed when the call ends.
  struct Body {
    std::string bytes;
  };

  static bool is_plain_text(std::string_view type) {
    constexpr std::string_view mine = "text/plain";
    for (size_t i = 0; i < mine.size(); i++) {
      if (i >= type.size() || std::tolower(static_cast<unsigned char>(type[i])) != mine[i]) return false;
    }
    return type.size() == mine.size() || std::string_view("; \t").find(type[mine.size()]) != std::string_view::npos;
  }

  // Escapes a text for a JSON string.
  static std::string escaped(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && c != '"' && c != '\\') {
        out += c;
      } else {
        out += "\\u00";
        out += digits[byte >> 4];
        out += digits[byte & 15];
      }
    }
    return out;
  }

  const crb::Host host_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
