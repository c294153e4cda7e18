// my-plugin keeps the last results of queries in memory and answers the same query with the same result.
//
// The host calls on_read before it sends a request, and on_write after the server answered. The cache keeps few results, but without
// a time limit; you may want to add a maximum age or a limit in bytes. Hooks of different calls run at the same time on the host's
// threads, so a lock protects their shared data. An exception in a hook fails its call.
#include <carabiner.hpp>

#include <list>
#include <mutex>
#include <string>

namespace {

constexpr size_t maximum_entries = 32;
constexpr size_t maximum_bytes = 1 << 20;

// One per manifest entry.
class Interceptor {
 public:
  static constexpr crb::Identity identity{"org.example.my-plugin", "1.0.0"};
  // Hooks can read only the parts named here.
  static constexpr crb::Parts cache{CRB_PART_OPERATION_NAME | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_HEADERS |
                                    CRB_PART_JSON | CRB_PART_ERRORS};

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  // Respond with a result is a hit. Continue passes the read to the next cache, or to the server.
  crb::Verdict on_read(crb::cache::Call &call) {
    const std::string key = key_of(call);
    std::string json;
    {
      const std::lock_guard lock(mutex_);
      for (const Entry &entry : entries_) {
        if (entry.key == key) json = entry.json;
      }
    }
    if (json.empty()) return crb::Verdict::Continue;
    if (host_.keeps(crb::Level::Info)) call.log(crb::Level::Info, "answered from memory");
    return call.respond(json);
  }

  // A result arrived. Only complete results of queries without errors are kept.
  void on_write(crb::cache::Call &call, const crb::Result &result) {
    const uint32_t unfit = CRB_RESULT_SYNTHETIC | CRB_RESULT_INCREMENTAL | CRB_RESULT_HAS_NEXT;
    if (call.operation_type() != CRB_OPERATION_QUERY || result.flags & unfit || result.errors || !result.json) return;
    // Views are borrowed, so the entry holds copies.
    Entry made{key_of(call), std::string(*result.json)};
    if (made.key.size() + made.json.size() > maximum_bytes) return;
    const std::lock_guard lock(mutex_);
    entries_.remove_if([&](const Entry &entry) { return entry.key == made.key; });
    entries_.push_front(std::move(made));
    if (entries_.size() > maximum_entries) entries_.pop_back();  // remove the oldest
  }

 private:
  struct Entry {
    std::string key;
    std::string json;
  };

  // The key of an operation: name, document, variables and the caller's Authorization, each after its length, so that no two operations
  // or callers share a key.
  static std::string key_of(const crb::cache::Call &call) {
    std::string key;
    for (const auto part : {call.operation_name(), call.document(), call.variables(), call.header("authorization")}) {
      const std::string_view bytes = part.value_or("");
      key += std::to_string(bytes.size());
      key += ':';
      key += bytes;
    }
    return key;
  }

  const crb::Host host_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
