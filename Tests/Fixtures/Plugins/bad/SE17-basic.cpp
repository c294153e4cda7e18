// One caller's data goes to another: a thread-local user name is kept when a request has none.
// ONLY: SE17
// Sends the user name of HTTP Basic credentials in X-User.
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

// Decoding needs a place; each thread keeps its own.
thread_local std::string user;

class Interceptor {
 public:
  static constexpr crb::Identity identity = crb::Identity{"org.example.user-header", "1.0.0"};
  static constexpr crb::Parts graphql{CRB_PART_HEADERS, CRB_PART_HEADERS};

  explicit Interceptor(const crb::Setup &) {}

  void on_request(crb::graphql::Call &call) {
    const auto authorization = call.header("Authorization");
    if (authorization && is_basic(*authorization)) decode(authorization->substr(6));
    if (!user.empty()) call.set_header("X-User", user);
  }

 private:
  static bool is_basic(std::string_view value) {
    constexpr std::string_view basic = "basic ";
    if (value.size() < basic.size()) return false;
    for (size_t i = 0; i < basic.size(); i++) {
      const char c = value[i] >= 'A' && value[i] <= 'Z' ? static_cast<char>(value[i] + 32) : value[i];
      if (c != basic[i]) return false;
    }
    return true;
  }

  static int digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  }

  // The part before the colon of a text in Base64; empty if it is malformed or not printable.
  static void decode(std::string_view text) {
    user.clear();
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
      if (c == '=' || c == ' ') continue;
      const int value = digit(c);
      if (value < 0) return user.clear();
      bits = bits << 6 | static_cast<uint32_t>(value);
      count += 6;
      if (count < 8) continue;
      count -= 8;
      const auto byte = static_cast<unsigned char>(bits >> count);
      if (byte == ':') return;
      if (byte <= 0x20 || byte > 0x7e || user.size() == 64) return user.clear();
      user += static_cast<char>(byte);
    }
    user.clear(); // no colon
  }
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
