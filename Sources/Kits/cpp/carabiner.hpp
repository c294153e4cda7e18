// carabiner.hpp - the contract of carabiner.h in C++17: a header and nothing to link.
//
// Write a class with the hooks you want, and export it:
//
//     struct Hello : crb::GraphQL<Hello> {
//       static constexpr crb::Identity identity{"org.example.hello", "1.0.0", nullptr, 0, CRB_PART_HEADERS};
//       explicit Hello(const crb::Setup &) {}
//       crb_verdict on_request(crb::Call call) { call.set_header("X-Hello", "world"); return CRB_CONTINUE; }
//     };
//     CARABINER_PLUGIN(Hello, "{\"id\":\"org.example.hello\",\"version\":\"1.0.0\",\"abi\":[1,0]}")
//
// An exception that leaves a hook becomes CRB_FAIL with its what(); none crosses the boundary.
#ifndef CARABINER_HPP
#define CARABINER_HPP

#include <carabiner.h>

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace crb {

/// The host's table; the entry function sets it.
inline const crb_host *host = nullptr;

inline crb_view view(std::string_view text) {
  // An empty text is present: its pointer must not be NULL.
  return {reinterpret_cast<const uint8_t *>(text.data() ? text.data() : ""), text.size()};
}

inline std::string_view text(crb_view bytes) {
  return bytes.ptr ? std::string_view(reinterpret_cast<const char *>(bytes.ptr), bytes.len) : std::string_view();
}

/// Who a plugin is, and what its stage reads and changes.
struct Identity {
  const char *id;
  const char *version;
  const char *config_schema;
  uint32_t needs;
  uint32_t mutates;
};

/// What the constructor of a plugin is given; valid while it runs.
struct Setup {
  crb_self self;
  std::string_view entry_name;
  std::string_view config_json;
};

/// A reference to counted bytes.
class Buffer {
 public:
  Buffer(crb_self who, std::string_view bytes) {
    uint8_t *target = nullptr;
    handle_ = host->buf_alloc(who, bytes.size(), &target);
    if (!handle_) throw std::bad_alloc();
    if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() {
    if (handle_) host->buf_release(handle_);
  }
  /// Hands the reference over, as emit() and field_set() want it.
  crb_buf take() {
    crb_buf handle = handle_;
    handle_ = 0;
    return handle;
  }

 private:
  crb_buf handle_;
};

/// A call inside a hook.
class Call {
 public:
  Call(crb_call handle, crb_self self) : handle_(handle), self_(self) {}

  crb_call handle() const { return handle_; }
  uint32_t attempt() const { return host->attempt(handle_); }
  uint32_t operation_type() const { return host->operation_type(handle_); }

  /// A part of the message, or nothing if it is absent.
  std::optional<std::string_view> part(uint32_t which) const {
    crb_view out{nullptr, 0};
    if (host->field_get(handle_, which, &out) != CRB_OK) return std::nullopt;
    return text(out);
  }

  std::optional<std::string_view> header(std::string_view name) const {
    crb_view out{nullptr, 0};
    if (host->header_get(handle_, view(name), &out) != CRB_OK) return std::nullopt;
    return text(out);
  }

  void set_header(std::string_view name, std::string_view value) {
    check(host->header_set(handle_, view(name), view(value), 0), "the host refuses the header");
  }

  /// Stages a whole GraphQL response.
  void emit_result(std::string_view json, uint32_t flags) {
    Buffer buffer(self_, json);
    check(host->emit(handle_, CRB_EMIT_RESULT, buffer.take(), flags), "the host takes no result here");
  }

  void log(uint32_t level, std::string_view line) const { host->log(self_, level, handle_, view(line)); }

  /// Finishes this hook later: return CRB_PENDING and call crb::host->resume(token, verdict) once.
  crb_token suspend() {
    crb_token token = host->suspend(handle_);
    if (!token) throw std::runtime_error("the host cannot suspend this hook");
    return token;
  }

 private:
  static void check(crb_status status, const char *what) {
    if (status != CRB_OK) throw std::runtime_error(std::string(what) + " (status " + std::to_string(status) + ")");
  }

  crb_call handle_;
  crb_self self_;
};

namespace detail {

inline crb_verdict failure(crb_call call, const char *message) noexcept {
  crb_error error{};
  error.size = sizeof error;
  error.message = {reinterpret_cast<const uint8_t *>(message), std::strlen(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

/// Runs a hook and keeps exceptions inside.
template <class Hook>
crb_verdict guarded(crb_call call, Hook hook) noexcept {
  try {
    return hook();
  } catch (const std::exception &error) {
    return failure(call, error.what());
  } catch (...) {
    return failure(call, "the plugin threw something that is no std::exception");
  }
}

/// What an instance pointer points to.
template <class Plugin>
struct Instance {
  explicit Instance(const Setup &setup) : self(setup.self), plugin(setup) {}
  crb_self self;
  Plugin plugin;
};

/// The last reason a plugin was not created; the host reads it before it calls anything else [load].
inline std::string &refusal() {
  static std::string text;
  return text;
}

template <class Plugin>
crb_status create(const crb_host *, const crb_create_info *info, void **inst, crb_error *why) noexcept {
  try {
    *inst = new Instance<Plugin>(Setup{info->self, text(info->entry_name), text(info->config_json)});
    return CRB_OK;
  } catch (const std::bad_alloc &) {
    return CRB_E_NOMEM;
  } catch (const std::exception &error) {
    refusal() = error.what();
    why->message = view(refusal());
    return CRB_E_INVAL;
  } catch (...) {
    return CRB_E_INVAL;
  }
}

template <class Plugin>
void destroy(void *inst) noexcept {
  delete static_cast<Instance<Plugin> *>(inst);
}

template <class Plugin>
Instance<Plugin> &instance(void *inst) {
  return *static_cast<Instance<Plugin> *>(inst);
}

}  // namespace detail

/// A plugin with a GraphQL stage: define on_request, and on_result if results matter.
template <class Plugin>
struct GraphQL {
  crb_verdict on_result(Call, const crb_result &) { return CRB_CONTINUE; }

  static crb_graphql_stage stage() {
    crb_graphql_stage s{};
    s.size = sizeof s;
    s.needs = Plugin::identity.needs;
    s.mutates = Plugin::identity.mutates;
    s.on_request = [](void *inst, crb_call call, void **) {
      return detail::guarded(call, [&] {
        auto &i = detail::instance<Plugin>(inst);
        return i.plugin.on_request(Call(call, i.self));
      });
    };
    s.on_result = [](void *inst, crb_call call, void *, const crb_result *result) {
      return detail::guarded(call, [&] {
        auto &i = detail::instance<Plugin>(inst);
        return i.plugin.on_result(Call(call, i.self), *result);
      });
    };
    return s;
  }
  static void place(crb_interceptor &interceptor) {
    static const crb_graphql_stage table = stage();
    interceptor.graphql = &table;
  }
};

/// A plugin with a cache stage: define on_read and on_write.
template <class Plugin>
struct Cache {
  static crb_cache_stage stage() {
    crb_cache_stage s{};
    s.size = sizeof s;
    s.needs = Plugin::identity.needs;
    s.mutates = Plugin::identity.mutates;
    s.on_read = [](void *inst, crb_call call, void **) {
      return detail::guarded(call, [&] {
        auto &i = detail::instance<Plugin>(inst);
        return i.plugin.on_read(Call(call, i.self));
      });
    };
    s.on_write = [](void *inst, crb_call call, void *, const crb_result *result) {
      return detail::guarded(call, [&] {
        auto &i = detail::instance<Plugin>(inst);
        return i.plugin.on_write(Call(call, i.self), *result);
      });
    };
    return s;
  }
  static void place(crb_interceptor &interceptor) {
    static const crb_cache_stage table = stage();
    interceptor.cache = &table;
  }
};

/// The registration table of a library with one plugin.
template <class Plugin>
const crb_plugin *registration() {
  static const crb_interceptor interceptor = [] {
    crb_interceptor i{};
    i.size = sizeof i;
    i.thread_class = CRB_THREADS_CONCURRENT;
    i.id = Plugin::identity.id;
    i.version = Plugin::identity.version;
    i.config_schema = Plugin::identity.config_schema;
    i.create = detail::create<Plugin>;
    i.destroy = detail::destroy<Plugin>;
    Plugin::place(i);
    return i;
  }();
  static const crb_interceptor *const items[] = {&interceptor};
  static const crb_plugin plugin = [] {
    crb_plugin p{};
    p.size = sizeof p;
    p.abi_major = CRB_ABI_MAJOR;
    p.abi_minor_built = CRB_ABI_MINOR;
    p.count = 1;
    p.items = items;
    return p;
  }();
  return &plugin;
}

}  // namespace crb

/// Exports one plugin, with the note that says who it is.
#define CARABINER_PLUGIN(Plugin, note)                                        \
  CRB_DECLARE_NOTE(note);                                                     \
  extern "C" CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {   \
    crb::host = h;                                                            \
    return crb::registration<Plugin>();                                       \
  }

#endif
