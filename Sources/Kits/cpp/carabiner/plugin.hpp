// Who a plugin is, and how its instances come and go.
#ifndef CARABINER_PLUGIN_HPP
#define CARABINER_PLUGIN_HPP

#include "config.hpp"
#include "watched.hpp"

namespace crb {

/// Which threads the host may use for the hooks of one instance.
enum class Threads : uint32_t {
  PerCall = CRB_THREADS_PER_CALL,
  Serial = CRB_THREADS_SERIAL,
  Concurrent = CRB_THREADS_CONCURRENT
};

/// Who a plugin is.
struct Identity {
  /// Reverse DNS.
  const char *id;
  /// Semantic version.
  const char *version;
  /// JSON Schema of the configuration; NULL if there is none.
  const char *config_schema = nullptr;
  Threads threads = Threads::Concurrent;
  /// For people; may be NULL.
  const char *name = nullptr;
};

/// What a stage reads and what it changes, CRB_PART_*: `static constexpr crb::Parts http{CRB_PART_URL, CRB_PART_HEADERS};`
struct Parts {
  uint32_t needs = 0;
  uint32_t mutates = 0;
};

/// What the constructor of a plugin is given; the texts are valid while it runs.
struct Setup {
  /// To be kept.
  Host host;
  /// The name of the manifest entry.
  std::string_view entry_name;
  /// The configuration; the host has checked it against the schema.
  Config config;
  /// Of the manifest that asks for the instance.
  uint64_t generation;
};

namespace detail {

/// An instance: what the host's instance pointer points to.
template <class Plugin>
struct Instance final : Core {
  Instance(crb_self self, const Setup &setup) : Core(self), plugin(setup) {}
  Plugin plugin;
};

/// Says why, for what is no hook and so has no call.
inline void refuse(crb_error *why, const char *message, int32_t code = 0) {
  // The host reads the reason before this thread does anything else.
  thread_local std::string reason;
  reason = message;
  if (!why) return;
  why->code = code;
  why->message = view(reason);
}

/// Runs the plugin's code outside of any call; what it throws is said in `why`.
template <class Body>
crb_status told(crb_error *why, Body body) noexcept {
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
      refuse(why, "the plugin threw something that is no std::exception");
    }
  } catch (...) {
    return CRB_E_NOMEM;
  }
  return CRB_E_INVAL;
}

template <class Plugin>
crb_status create(const crb_host *, const crb_create_info *info, void **inst, crb_error *why) noexcept {
  return told(why, [&] {
    const Setup setup{Host(info->self), text(info->entry_name), Config(text(info->config_json)), info->generation};
    *inst = static_cast<Core *>(new Instance<Plugin>(info->self, setup));
    return CRB_OK;
  });
}

inline void destroy(void *inst) noexcept { static_cast<Core *>(inst)->release(); }

}  // namespace detail
}  // namespace crb

#endif
