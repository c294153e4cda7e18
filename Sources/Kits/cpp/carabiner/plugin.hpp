// The identity of a plugin, and the creation and destruction of its instances.
#ifndef CARABINER_PLUGIN_HPP
#define CARABINER_PLUGIN_HPP

#include <array>

#include "config.hpp"
#include "watched.hpp"

namespace crb {

/// Which threads the host may use for the hooks of one instance.
enum class Threads : uint32_t {
  PerCall = CRB_THREADS_PER_CALL,
  Serial = CRB_THREADS_SERIAL,
  Concurrent = CRB_THREADS_CONCURRENT
};

/// The identity of a plugin: `Identity{"org.example.hello",
/// "1.0.0"}.with_threads(Threads::Serial).with_capabilities("varies")`
struct Identity {
  /// Reverse DNS.
  const char *id;
  /// Semantic version.
  const char *version;
  /// JSON Schema of the configuration; NULL if there is none.
  const char *config_schema = nullptr;
  Threads threads = Threads::Concurrent;
  /// For people; can be NULL.
  const char *name = nullptr;
  const char *vendor = nullptr;
  /// The URL of the documentation; can be NULL.
  const char *url = nullptr;
  /// The capabilities that the note declares for `carabiner conform`, such as "varies". Unused elements are NULL.
  std::array<const char *, 8> capabilities = {};

  /// A copy with this thread class.
  constexpr Identity with_threads(Threads new_threads) const {
    Identity identity = *this;
    identity.threads = new_threads;
    return identity;
  }
  /// A copy with these capabilities in the note, at most eight.
  template <class... Names>
  constexpr Identity with_capabilities(Names... names) const {
    Identity identity = *this;
    identity.capabilities = {names...};
    return identity;
  }
  /// A copy with texts for people.
  constexpr Identity with_texts(const char *new_name, const char *new_vendor = nullptr, const char *new_url = nullptr) const {
    Identity identity = *this;
    identity.name = new_name;
    identity.vendor = new_vendor;
    identity.url = new_url;
    return identity;
  }
};

/// The parts that a stage reads and changes, CRB_PART_*: `static constexpr crb::Parts http{CRB_PART_URL,
/// CRB_PART_HEADERS};`
struct Parts {
  uint32_t needs = 0;
  uint32_t mutates = 0;
};

/// The argument of a plugin's constructor. The texts are valid while the constructor runs.
struct Setup {
  /// Can be copied and kept.
  Host host;
  /// The name of the manifest entry.
  std::string_view entry_name;
  /// The configuration; the host has checked it against the schema.
  Config config;
  /// The generation of the manifest that requires the instance.
  uint64_t generation;
  /// The path of the library in the manifest, not of the staged copy.
  std::string_view origin;
};

namespace detail {

/// An instance: what the host's instance pointer points to.
template <class Plugin>
struct Instance final : Held {
  Instance(std::shared_ptr<Core> its_core, const Setup &setup) : Held(std::move(its_core)), plugin(setup) {}
  Plugin plugin;
};

/// Stores the reason in `why`, for functions that are not hooks and have no call.
inline void refuse(crb_error *why, const char *message, int32_t code = 0) {
  // The host reads the reason before this thread does anything else.
  thread_local std::string reason;
  reason = message;
  if (!why) return;
  why->code = code;
  why->message = view(reason);
}

/// Runs the plugin's code outside of a call and stores the reason of a failure in `why`.
template <class Body>
crb_status reporting(crb_error *why, Body body) noexcept {
  try {
    try {
      return body();
    } catch (const Failure &failure) {
      refuse(why, failure.what(), failure.code);
    } catch (const std::bad_alloc &) {
      return CRB_E_NOMEM;
    } catch (const std::exception &error) {
      refuse(why, error.what());
    } catch (...) {
      refuse(why, "the plugin threw an exception that is not a std::exception");
    }
  } catch (...) {
    return CRB_E_NOMEM;
  }
  return CRB_E_INVAL;
}

template <class Plugin>
crb_status create(const crb_host *, const crb_create_info *info, void **inst, crb_error *why) noexcept {
  return reporting(why, [&] {
    auto core = std::make_shared<Core>(info->self);
    const Setup setup{core->host, text(info->entry_name), Config(text(info->config_json)), info->generation, text(info->origin)};
    try {
      *inst = static_cast<Held *>(new Instance<Plugin>(core, setup));
    } catch (...) {
      // Work that the constructor started must not use an instance that does not exist.
      core->close();
      throw;
    }
    return CRB_OK;
  });
}

/// Destroys the plugin on the host's thread, after all work of the instance has ended.
template <class Plugin>
void destroy(void *inst) noexcept {
  auto *instance = static_cast<Instance<Plugin> *>(static_cast<Held *>(inst));
  instance->core->close();
  delete instance;
}

template <class P, class = void>
struct validates : std::false_type {};
template <class P>
struct validates<P, std::void_t<decltype(P::validate(std::declval<const Config &>()))>> : std::true_type {};

template <class P>
crb_status validate(const crb_host *, crb_view config_json, crb_error *why) noexcept {
  return reporting(why, [&] {
    P::validate(Config(text(config_json)));
    return CRB_OK;
  });
}

}  // namespace detail
}  // namespace crb

#endif
