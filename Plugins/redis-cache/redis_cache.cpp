// Shares the responses of queries between gateways, through Redis or Valkey.
//
// As a cache stage it asks the server before a query is sent, and stores what the upstream returns. As an HTTP stage it reads the
// Cache-Control of the upstream. A hook never waits for the server longer than the budget of a read, and it never waits for a
// write.
#include <carabiner.hpp>

#include <array>

#include "client.hpp"
#include "entry.hpp"
#include "freshness.hpp"
#include "self_tests.hpp"
#include "settings.hpp"

namespace {

/// Longer documents, variables and extensions are not cached: their key would cost more time in a hook than it may take.
constexpr size_t maximum_request = 128 << 10;

/// The result of a read, for the write of the same call.
struct Asked {
  std::string key;
  /// The epoch before the upstream was asked. A response from before a change of the epoch is then not valid after it.
  std::string epoch;
  /// Whether the server answered. Otherwise the epoch is unknown, and nothing is stored.
  bool is_answered = false;
};

/// A suspended on_read.
class ReadHook final : public Waiter {
 public:
  explicit ReadHook(crb::Later<crb::cache::Call> later) : later_(std::move(later)) {}
  ~ReadHook() override {
    // A call must not fail because the client ends.
    if (later_.is_wanted()) finish(std::nullopt);
  }

  void finish(std::optional<Found> found) noexcept override {
    later_.finish([&](crb::cache::Call &call) {
      auto *asked = call.state<Asked>();
      if (!found || !asked) return crb::Verdict::Continue;
      asked->epoch = std::move(found->epoch);
      asked->is_answered = true;
      const auto json = found->bytes ? entry::json_of(*found->bytes, asked->epoch) : std::nullopt;
      return json ? call.respond(*json) : crb::Verdict::Continue;
    });
  }

 private:
  crb::Later<crb::cache::Call> later_;
};

class RedisCache {
 public:
  static constexpr crb::Identity identity = crb::Identity{"org.carabiner.redis-cache", "1.0.0", Settings::schema}
                                                .with_texts("Response cache in Redis")
                                                .with_capabilities("socket");
  static constexpr crb::Parts cache{CRB_PART_HEADERS | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS |
                                    CRB_PART_OPERATION_NAME | CRB_PART_JSON | CRB_PART_DATA | CRB_PART_ERRORS};
  static constexpr crb::Parts http{CRB_PART_HEADERS};

  static void validate(const crb::Config &config) { TrustStore{Settings(config).server}; }

  explicit RedisCache(const crb::Setup &setup)
      : settings_(setup.config), age_key_(setup.host.key("org.carabiner.redis-cache.age")), client_(settings_, setup.host) {}

  // The cache stage.

  crb::Verdict on_read(crb::cache::Call &call) {
    if (call.operation_type() != CRB_OPERATION_QUERY || !client_.is_ready()) return crb::Verdict::Continue;
    const auto seconds = own_seconds(call);
    if (seconds && *seconds == 0) return crb::Verdict::Continue;
    const auto key = key_of(call);
    if (!key) return crb::Verdict::Continue;
    Asked &asked = call.make_state<Asked>();
    asked = {*key, {}, false};
    return call.later([&](auto later) { client_.read(*key, std::make_unique<ReadHook>(std::move(later))); });
  }

  void on_write(crb::cache::Call &call, const crb::Result &result) {
    const Asked *asked = call.state<Asked>();
    if (!asked || !asked->is_answered || call.operation_type() != CRB_OPERATION_QUERY) return;
    // A response with errors may succeed a moment later. Synthetic results come from plugins. Parts of a response are not stored.
    if (result.is_synthetic() || result.is_cached() || result.is_incremental() || result.has_next() || result.seq != 0) return;
    if (result.errors || !result.json || !result.data || *result.data == "null") return;
    if (result.http_status != 0 && (result.http_status < 200 || result.http_status > 299)) return;
    if (result.json->size() > settings_.maximum_entry) return;
    const int64_t seconds = seconds_of(call);
    if (seconds > 0) client_.write(asked->key, entry::stored(asked->epoch, *result.json), seconds);
  }

  // The HTTP stage. The age goes to the cache stage with the call.

  crb::Verdict on_request(crb::http::Call &) { return crb::Verdict::Continue; }

  void on_head(crb::http::Call &call, const crb::Head &head) {
    freshness::CacheControl control;
    bool sets_cookie = false;
    for (const crb::Header field : head.headers) {
      if (is_named(field, "cache-control")) control.add(field.value);
      // A cookie is for one client.
      if (is_named(field, "set-cookie")) sets_cookie = true;
    }
    const auto seconds = sets_cookie ? std::optional<int64_t>(0) : control.seconds();
    if (seconds) call.set_baggage(age_key_, crb::Value::integer(*seconds), CRB_SCOPE_CALL);
  }

  static auto self_tests() {
    using Test = crb::SelfTest<RedisCache>;
    return std::array{
        Test{"answers of the server in any pieces", [](RedisCache &) { return self_tests::answers_in_pieces(), true; }},
        Test{"hostile answers of the server", [](RedisCache &) { return self_tests::hostile_answers(), true; }},
        Test{"keys of requests", [](RedisCache &) { return self_tests::keys(), true; }},
        Test{"stored entries", [](RedisCache &) { return self_tests::entries(), true; }},
        Test{"fields Cache-Control", [](RedisCache &) { return self_tests::cache_control(), true; }},
        Test{"URLs of servers", [](RedisCache &) { return self_tests::urls(), true; }},
    };
  }

 private:
  static bool is_named(const crb::Header &field, std::string_view name) {
    if (field.name.size() != name.size()) return false;
    for (size_t index = 0; index < name.size(); index++) {
      const char letter = field.name[index];
      if ((letter >= 'A' && letter <= 'Z' ? letter + 32 : letter) != name[index]) return false;
    }
    return true;
  }

  /// The time that the configuration names for an operation.
  std::optional<int64_t> own_seconds(const crb::cache::Call &call) const {
    const auto name = call.operation_name();
    const auto found = name ? settings_.ttl_of_operation.find(*name) : settings_.ttl_of_operation.end();
    return found == settings_.ttl_of_operation.end() ? std::nullopt : std::optional(found->second);
  }

  /// How long a response may be kept. A refusal of the upstream always counts.
  int64_t seconds_of(const crb::cache::Call &call) const {
    const auto value = call.baggage(age_key_);
    const auto age = value ? value->as_integer() : std::nullopt;
    if (age && *age == 0) return 0;
    const auto own = own_seconds(call);
    return own ? *own : age.value_or(settings_.ttl_seconds);
  }

  /// Nothing if the request is too large.
  std::optional<std::string> key_of(const crb::cache::Call &call) const {
    entry::Request request{call.operation_name(), call.document(), call.variables(), call.extensions(), {}};
    size_t size = 0;
    for (const auto &part : {request.document, request.variables, request.extensions}) size += part ? part->size() : 0;
    const crb::Headers fields = call.headers();
    for (const std::string &name : settings_.headers) {
      std::vector<std::string_view> values;
      for (const crb::Header field : fields) {
        if (!is_named(field, name)) continue;
        values.push_back(field.value);
        size += field.value.size();
      }
      request.headers.emplace_back(name, std::move(values));
    }
    if (size > maximum_request) return std::nullopt;
    return settings_.key_prefix + "q:" + entry::digest(request);
  }

  const Settings settings_;
  const crb_key age_key_;
  Client client_;
};

}  // namespace

CARABINER_PLUGIN(RedisCache);
