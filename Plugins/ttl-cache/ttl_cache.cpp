// Caches whole responses, with a time to live and a limit in bytes. The least recently used are removed first.
#include <carabiner.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

class TTLCache {
 public:
  static constexpr crb::Identity identity{
      "org.carabiner.ttl-cache", "1.0.0",
      R"({"type":"object","additionalProperties":false,"properties":{
        "ttl-seconds":{"type":"integer","minimum":1,"maximum":31536000},
        "maximum-bytes":{"type":"integer","minimum":1024},
        "public":{"type":"boolean"}}})"};
  static constexpr crb::Parts cache{
      CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS | CRB_PART_OPERATION_NAME | CRB_PART_HEADERS | CRB_PART_JSON |
      CRB_PART_ERRORS};

  explicit TTLCache(const crb::Setup &setup)
      : ttl_(std::chrono::seconds(setup.config.integer("ttl-seconds").value_or(60))),
        limit_(static_cast<uint64_t>(setup.config.integer("maximum-bytes").value_or(16 << 20))),
        is_public_(setup.config.boolean("public").value_or(false)) {}

  crb::Verdict on_read(crb::cache::Call &call) {
    const std::string key = key_of(call);
    std::shared_ptr<const Entry> entry;
    {
      const std::lock_guard lock(mutex_);
      const auto found = index_.find(key);
      if (found == index_.end()) return crb::Verdict::Continue;
      if ((*found->second)->expiry <= Clock::now()) {
        remove(found->second);
        return crb::Verdict::Continue;
      }
      entries_.splice(entries_.begin(), entries_, found->second);
      entry = *found->second;
    }
    return call.respond(entry->json);
  }

  void on_write(crb::cache::Call &call, const crb::Result &result) {
    // A response with errors may succeed a moment later. One larger than the cache would only empty it. Synthetic results come from
    // plugins, not from the server, and a part of a response is not the response.
    if (result.flags & (CRB_RESULT_SYNTHETIC | CRB_RESULT_INCREMENTAL | CRB_RESULT_HAS_NEXT)) return;
    if (result.errors || !result.json || call.operation_type() != CRB_OPERATION_QUERY) return;
    std::string key = key_of(call);
    if (Entry::size_of(key, *result.json) > limit_) return;
    auto entry = std::make_shared<const Entry>(Entry{std::move(key), std::string(*result.json), Clock::now() + ttl_});
    const std::lock_guard lock(mutex_);
    keep(std::move(entry));
  }

  // At a reload the entries are handed over, the most recently used first, with a checksum, as far as the limit allows.

  static constexpr uint32_t state_version = 1;

  std::optional<std::string> save() {
    // Calls continue meanwhile and wait only while this list is copied.
    std::vector<std::shared_ptr<const Entry>> entries;
    {
      const std::lock_guard lock(mutex_);
      entries.assign(entries_.begin(), entries_.end());
    }
    std::string bytes;
    for (const auto &entry : entries) {
      if (entry->expiry <= Clock::now()) continue;
      if (bytes.size() + sizeof(Head) + entry->size() + sizeof(uint64_t) > CRB_STATE_MAX_BYTES) break;
      append(bytes, Head{entry->expiry.time_since_epoch().count(), entry->key.size(), entry->json.size()});
      bytes += entry->key;
      bytes += entry->json;
    }
    if (bytes.empty()) return std::nullopt;
    append(bytes, checksum(bytes));
    return bytes;
  }

  void adopt(uint32_t, std::string_view bytes) {
    uint64_t sum = 0;
    if (bytes.size() < sizeof sum) refuse();
    std::string_view sealed = bytes.substr(bytes.size() - sizeof sum);
    bytes.remove_suffix(sizeof sum);
    take(sealed, sum);
    if (sum != checksum(bytes)) refuse();
    std::vector<std::shared_ptr<const Entry>> adopted;
    const auto now = Clock::now();
    while (!bytes.empty()) {
      Head head{};
      take(bytes, head);
      if (head.key > bytes.size() || head.json > bytes.size() - head.key) refuse();
      // This instance's time to live may be shorter than that of the earlier one.
      const auto expiry = std::min(Clock::time_point{Clock::duration(head.expiry)}, now + ttl_);
      Entry entry{std::string(bytes.substr(0, head.key)), std::string(bytes.substr(head.key, head.json)), expiry};
      bytes.remove_prefix(head.key + head.json);
      if (expiry > now && entry.size() <= limit_) adopted.push_back(std::make_shared<const Entry>(std::move(entry)));
    }
    const std::lock_guard lock(mutex_);
    for (auto entry = adopted.rbegin(); entry != adopted.rend(); ++entry) keep(std::move(*entry));
  }

 private:
  struct Entry {
    std::string key;
    std::string json;
    Clock::time_point expiry;

    size_t size() const { return size_of(key, json); }
    /// The memory of an entry, with its parts of list, index and heap.
    static size_t size_of(std::string_view key, std::string_view json) { return key.size() + json.size() + 256; }
  };
  using Entries = std::list<std::shared_ptr<const Entry>>;

  /// The key: name, document, variables and extensions, and what identifies the caller, each preceded by its length, so that no two
  /// operations share a key, and no two callers a result.
  std::string key_of(const crb::cache::Call &call) const {
    std::string key;
    const auto add = [&key](const std::optional<std::string_view> part) {
      const std::string_view bytes = part.value_or("");
      key += std::to_string(bytes.size());
      key += ':';
      key += bytes;
    };
    for (const auto part : {call.operation_name(), call.document(), call.variables(), call.extensions()}) add(part);
    if (!is_public_) {
      for (const auto name : {"authorization", "cookie"}) add(call.header(name));
    }
    return key;
  }

  /// The header of an entry that is handed over.
  struct Head {
    Clock::rep expiry;
    uint64_t key;
    uint64_t json;
  };

  template <class Value>
  static void append(std::string &bytes, const Value &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <class Value>
  static void take(std::string_view &bytes, Value &value) {
    if (bytes.size() < sizeof value) refuse();
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
  }
  [[noreturn]] static void refuse() { throw crb::Failure("these bytes are not a state that ttl-cache has saved"); }

  /// FNV-1a. It detects damage but not manipulation; the bytes never leave the process.
  static uint64_t checksum(std::string_view bytes) {
    uint64_t sum = 0xcbf29ce484222325;
    for (const char byte : bytes) sum = (sum ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    return sum;
  }

  void keep(std::shared_ptr<const Entry> entry) {
    if (const auto found = index_.find(entry->key); found != index_.end()) remove(found->second);
    bytes_ += entry->size();
    entries_.push_front(std::move(entry));
    index_[entries_.front()->key] = entries_.begin();
    while (bytes_ > limit_) remove(std::prev(entries_.end()));
  }

  void remove(Entries::iterator entry) {
    bytes_ -= (*entry)->size();
    index_.erase((*entry)->key);
    entries_.erase(entry);
  }

  const std::chrono::seconds ttl_;
  const uint64_t limit_;
  const bool is_public_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> index_;
  uint64_t bytes_ = 0;
};

}  // namespace

CARABINER_PLUGIN(TTLCache);
