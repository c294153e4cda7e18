// All four stages on the C++ kit, without faults, and the optional extensions of a plugin.
#include <carabiner.hpp>
#include <signal.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <thread>

namespace {

using crb::Verdict;

/// Turns CBOR of maps, lists, texts and small whole numbers into JSON, and refuses all other bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::string json() {
    value(32);
    if (!rest_.empty()) throw crb::Failure("there is more behind the response");
    return std::move(out_);
  }

 private:
  struct Head {
    int kind;
    size_t number;
  };

  uint8_t byte() {
    if (rest_.empty()) throw crb::Failure("the response ends too early");
    const auto first = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  Head head() {
    const uint8_t first = byte();
    if ((first & 31) > 24) throw crb::Failure("the response holds what this parser does not know");
    return {first >> 5, (first & 31) == 24 ? byte() : size_t(first & 31)};
  }
  void value(int depth) {
    const Head begin = head();
    if (depth == 0) throw crb::Failure("the response is too deep");
    switch (begin.kind) {
      case 0: out_ += std::to_string(begin.number); break;
      case 3: text(begin.number); break;
      case 4:
        for (size_t i = 0; i < begin.number; i++) {
          out_ += i == 0 ? '[' : ',';
          value(depth - 1);
        }
        out_ += begin.number == 0 ? "[]" : "]";
        break;
      case 5: map(begin.number, depth); break;
      default: throw crb::Failure("the response holds what this parser does not know");
    }
  }
  void map(size_t count, int depth) {
    std::set<std::string_view> names;
    out_ += '{';
    for (size_t i = 0; i < count; i++) {
      if (i > 0) out_ += ',';
      const Head name = head();
      if (name.kind != 3) throw crb::Failure("a name is not a text");
      if (!names.insert(text(name.number)).second) throw crb::Failure("a map contains a name twice");
      out_ += ':';
      value(depth - 1);
    }
    out_ += '}';
  }
  /// Plain text: no control characters, and no bytes above ASCII but those of two-byte letters.
  std::string_view text(size_t count) {
    if (count > rest_.size()) throw crb::Failure("the response ends too early");
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    out_ += '"';
    for (size_t i = 0; i < count; i++) {
      const auto letter = static_cast<uint8_t>(bytes[i]);
      const bool is_pair = letter >= 0xC2 && letter < 0xE0 && i + 1 < count && (static_cast<uint8_t>(bytes[i + 1]) & 0xC0) == 0x80;
      if (letter < 0x20 || (letter >= 0x80 && !is_pair)) throw crb::Failure("a text holds what this parser does not know");
      if (letter == '"' || letter == '\\') out_ += '\\';
      out_ += bytes[i];
      if (is_pair) out_ += bytes[++i];
    }
    out_ += '"';
    return bytes;
  }

  std::string_view rest_;
  std::string out_;
};

/// A thread of its own with a name, which takes no signals, as the rules ask. It waits for its end.
class Waiter {
 public:
  Waiter() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
      // Not by the thread that starts it: that would open a file.
      pthread_setname_np(pthread_self(), "good-waiter");
      std::unique_lock lock(mutex_);
      has_begun_ = true;
      changed_.notify_one();
      changed_.wait(lock, [this] { return has_ended_; });
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_begun_; });
  }
  ~Waiter() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  std::thread thread_;
};

class AllStages {
 public:
  static constexpr crb::Identity identity{"org.carabiner.test.good-cpp", "1.0.0"};
  static constexpr crb::Parts graphql{CRB_PART_OPERATION_NAME | CRB_PART_ERRORS | CRB_PART_JSON, CRB_PART_HEADERS | CRB_PART_JSON};
  static constexpr crb::Parts http{CRB_PART_HEADERS | CRB_PART_CHUNK, CRB_PART_HEADERS};
  static constexpr crb::Parts cache{CRB_PART_OPERATION_NAME | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_HEADERS |
                                    CRB_PART_JSON | CRB_PART_ERRORS};
  static constexpr crb::Parts parser{CRB_PART_HEADERS | CRB_PART_CHUNK};

  explicit AllStages(const crb::Setup &setup) : host_(setup.host) {}

  // Extensions: the number of stored results, which the next instance continues, and a test that CBOR is read as the standard
  // requires.

  static constexpr uint32_t state_version = 1;
  std::optional<std::string> save() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return std::nullopt;
    return std::string(reinterpret_cast<const char *>(&count_), sizeof count_);
  }
  void adopt(uint32_t version, std::string_view bytes) {
    if (version != state_version || bytes.size() != sizeof count_) throw crb::Failure("this is not a count");
    const std::lock_guard lock(mutex_);
    std::memcpy(&count_, bytes.data(), sizeof count_);
  }
  static auto self_tests() {
    using Test = crb::SelfTest<AllStages>;
    return std::array{
        Test{"RFC 8949, appendix A: {\"a\": 1, \"b\": [2, 3]}", [](AllStages &) {
          const std::string json = Reader("\xa2\x61\x61\x01\x61\x62\x82\x02\x03").json();
          if (json != R"({"a":1,"b":[2,3]})") throw crb::Failure("it reads " + json);
          return true;
        }},
        Test{"RFC 8949, appendix A: 1.1, which no response here has", [](AllStages &) { return false; }},
    };
  }

  // GraphQL: sends the server whether the operation has a name, and counts failures.

  Verdict on_request(crb::graphql::Call &call) {
    call.make_state<Failures>() = {};
    const auto name = call.operation_name();
    call.set_header("X-Named", name && std::regex_match(name->begin(), name->end(), usual_name_) ? "yes" : "no");
    return Verdict::Continue;
  }
  void on_result(crb::graphql::Call &call, const crb::Result &result) {
    if (result.errors) call.state<Failures>()->count++;
    // One of several results: it is replaced by an equal one, and the kit keeps that more follow.
    const bool is_one_of_several = (result.flags & CRB_RESULT_HAS_NEXT) && !(result.flags & CRB_RESULT_INCREMENTAL);
    if (is_one_of_several && result.json) call.emit(*result.json);
  }
  Verdict on_error(crb::graphql::Call &call, const crb::Error &) {
    call.state<Failures>()->count++;
    return Verdict::Continue;
  }
  void on_end(crb::graphql::Call &call) {
    if (call.state<Failures>()->count > 0) host_.log(crb::Level::Debug, "some results have errors");
  }

  // HTTP: sends the number of the attempt, and measures the body.

  Verdict on_request(crb::http::Call &call) {
    call.make_state<Length>() = {};
    call.set_header("X-Attempt", std::to_string(call.attempt()));
    return Verdict::Continue;
  }
  void on_head(crb::http::Call &call, const crb::Head &head) { call.set_header("X-Seen-Status", std::to_string(head.status)); }
  void on_chunk(crb::http::Call &call, const crb::Chunk &chunk) { call.state<Length>()->bytes += chunk.bytes.size(); }

  // Cache: some of the last results.

  Verdict on_read(crb::cache::Call &call) {
    const std::string key = key_of(call);
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    return found == kept_.end() ? Verdict::Continue : call.respond(found->second);
  }
  void on_write(crb::cache::Call &call, const crb::Result &result) {
    if (result.errors || !result.json || (result.flags & ~uint32_t{CRB_RESULT_CACHE}) != 0) return;
    if (call.operation_type() != CRB_OPERATION_QUERY) return;
    std::string key = key_of(call);
    std::string json(*result.json);
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= 32) kept_.clear();
    kept_[std::move(key)] = std::move(json);
    count_++;
  }

  // Parser: application/cbor.

  Verdict on_head(crb::parser::Call &call, const crb::Head &head) {
    if (head.headers["content-type"] != "application/cbor") return Verdict::Drop;
    call.make_state<Body>() = {};
    return Verdict::Continue;
  }
  void on_chunk(crb::parser::Call &call, const crb::Chunk &chunk) {
    Body &body = *call.state<Body>();
    if (body.bytes.size() + chunk.bytes.size() > 1 << 20) throw crb::Failure("the response is longer than a MiB");
    body.bytes += chunk.bytes;
  }
  void on_end(crb::parser::Call &call) { call.emit(Reader(call.state<Body>()->bytes).json()); }

 private:
  struct Failures {
    int count = 0;
  };
  struct Length {
    size_t bytes = 0;
  };
  struct Body {
    std::string bytes;
  };

  static std::string key_of(const crb::cache::Call &call) {
    std::string key;
    for (const auto part : {call.operation_name(), call.document(), call.variables(), call.header("authorization")}) {
      key += std::to_string(part.value_or("").size()) + ":";
      key += part.value_or("");
    }
    return key;
  }

  const crb::Host host_;
  const std::regex usual_name_{"[A-Z][A-Za-z0-9]*"};
  Waiter waiter_;
  std::mutex mutex_;
  std::map<std::string, std::string> kept_;
  uint64_t count_ = 0;
};

}  // namespace

CARABINER_PLUGIN(AllStages);
