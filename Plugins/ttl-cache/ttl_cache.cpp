// Keeps whole responses for a while: a time to live, a limit in bytes, and the least recently used go first.
#include <carabiner.hpp>

#include <charconv>
#include <chrono>
#include <list>
#include <mutex>
#include <unordered_map>

namespace {

using Clock = std::chrono::steady_clock;

/// A whole number of a flat JSON object whose form the host has checked against the schema.
std::optional<uint64_t> number(std::string_view json, std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\"";
  const size_t key = json.find(quoted);
  if (key == std::string_view::npos) return std::nullopt;
  const size_t start = json.find_first_of("0123456789", key + quoted.size());
  if (start == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(json.data() + start, json.data() + json.size(), value);
  (void)end;
  if (error != std::errc()) throw std::runtime_error(std::string(name) + " is too large");
  return value;
}

class TTLCache : public crb::Cache<TTLCache> {
 public:
  static constexpr crb::Identity identity{
      "org.carabiner.ttl-cache", "1.0.0",
      "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
      "\"ttl-seconds\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":31536000},"
      "\"maximum-bytes\":{\"type\":\"integer\",\"minimum\":1024}}}",
      CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_OPERATION_NAME | CRB_PART_JSON | CRB_PART_ERRORS, 0};

  explicit TTLCache(const crb::Setup &setup)
      : ttl_(std::chrono::seconds(number(setup.config_json, "ttl-seconds").value_or(60))),
        limit_(number(setup.config_json, "maximum-bytes").value_or(16u << 20)) {}

  crb_verdict on_read(crb::Call call) {
    const std::string key = key_of(call);
    std::string json;
    {
      const std::lock_guard lock(mutex_);
      const auto found = index_.find(key);
      if (found == index_.end()) return CRB_CONTINUE;
      if (found->second->expiry <= Clock::now()) {
        remove(found->second);
        return CRB_CONTINUE;
      }
      entries_.splice(entries_.begin(), entries_, found->second);
      json = found->second->json;
    }
    call.emit_result(json, CRB_RESULT_CACHE);
    return CRB_RESPOND;
  }

  crb_verdict on_write(crb::Call call, const crb_result &result) {
    // A response with errors may be good a moment later; one that is larger than the cache would only empty it.
    if (result.errors.ptr || call.operation_type() != CRB_OPERATION_QUERY) return CRB_CONTINUE;
    std::string key = key_of(call);
    const std::string_view json = crb::text(result.json);
    if (key.size() + json.size() > limit_) return CRB_CONTINUE;
    const std::lock_guard lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) remove(found->second);
    bytes_ += key.size() + json.size();
    entries_.push_front({std::move(key), std::string(json), Clock::now() + ttl_});
    index_[entries_.front().key] = entries_.begin();
    while (bytes_ > limit_) remove(std::prev(entries_.end()));
    return CRB_CONTINUE;
  }

 private:
  struct Entry {
    std::string key;
    std::string json;
    Clock::time_point expiry;
  };
  using Entries = std::list<Entry>;

  /// Name, document and variables, each with its length before it, so that no two operations share a key.
  static std::string key_of(const crb::Call &call) {
    std::string key;
    for (const uint32_t part : {uint32_t{CRB_PART_OPERATION_NAME}, uint32_t{CRB_PART_DOCUMENT}, uint32_t{CRB_PART_VARIABLES}}) {
      const auto bytes = call.part(part).value_or(std::string_view());
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

CARABINER_PLUGIN(TTLCache, "{\"id\":\"org.carabiner.ttl-cache\",\"version\":\"1.0.0\",\"abi\":[1,0]}")
