// Keeps whole responses for a while: a time to live, a limit in bytes, and the least recently used go first.
#include <carabiner.hpp>

#include <chrono>
#include <list>
#include <mutex>
#include <unordered_map>

namespace {

using Clock = std::chrono::steady_clock;

class TTLCache {
 public:
  static constexpr crb::Identity identity{
      "org.carabiner.ttl-cache", "1.0.0",
      R"({"type":"object","additionalProperties":false,"properties":{
        "ttl-seconds":{"type":"integer","minimum":1,"maximum":31536000},
        "maximum-bytes":{"type":"integer","minimum":1024}}})"};
  static constexpr crb::Parts cache{
      CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS | CRB_PART_OPERATION_NAME | CRB_PART_JSON | CRB_PART_ERRORS};

  explicit TTLCache(const crb::Setup &setup)
      : ttl_(std::chrono::seconds(setup.config.integer("ttl-seconds").value_or(60))),
        limit_(static_cast<uint64_t>(setup.config.integer("maximum-bytes").value_or(16 << 20))) {}

  crb::Verdict on_read(crb::cache::Call &call) {
    const std::string key = key_of(call);
    std::string json;
    {
      const std::lock_guard lock(mutex_);
      const auto found = index_.find(key);
      if (found == index_.end()) return crb::Verdict::Continue;
      if (found->second->expiry <= Clock::now()) {
        remove(found->second);
        return crb::Verdict::Continue;
      }
      entries_.splice(entries_.begin(), entries_, found->second);
      json = found->second->json;
    }
    return call.respond(json);
  }

  void on_write(crb::cache::Call &call, const crb::Result &result) {
    // A response with errors may be good a moment later; one that is larger than the cache would only empty it.
    // What another plugin made up is no answer of the server.
    if (result.flags & CRB_RESULT_SYNTHETIC) return;
    if (result.errors || !result.json || call.operation_type() != CRB_OPERATION_QUERY) return;
    std::string key = key_of(call);
    if (key.size() + result.json->size() > limit_) return;
    const std::lock_guard lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) remove(found->second);
    bytes_ += key.size() + result.json->size();
    entries_.push_front({std::move(key), std::string(*result.json), Clock::now() + ttl_});
    index_[entries_.front().key] = entries_.begin();
    while (bytes_ > limit_) remove(std::prev(entries_.end()));
  }

 private:
  struct Entry {
    std::string key;
    std::string json;
    Clock::time_point expiry;
  };
  using Entries = std::list<Entry>;

  /// Name, document, variables and extensions, each with its length before it, so that no two operations share a key.
  static std::string key_of(const crb::cache::Call &call) {
    std::string key;
    for (const auto part : {call.operation_name(), call.document(), call.variables(), call.extensions()}) {
      const std::string_view bytes = part.value_or("");
      key += std::to_string(bytes.size());
      key += ':';
      key += bytes;
    }
    return key;
  }

  void remove(Entries::iterator entry) {
    bytes_ -= entry->key.size() + entry->json.size();
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  const std::chrono::seconds ttl_;
  const uint64_t limit_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> index_;
  uint64_t bytes_ = 0;
};

}  // namespace

CARABINER_PLUGIN(TTLCache);
