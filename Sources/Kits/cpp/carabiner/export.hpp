// The registration table, the note, and the only exported symbol of the contract.
#ifndef CARABINER_EXPORT_HPP
#define CARABINER_EXPORT_HPP

#include "extensions.hpp"

namespace crb {
namespace detail {

/// The ELF note of a plugin, built at compile time.
constexpr crb_note note(const Identity &identity) {
  crb_note made{4, CRB_NOTE_MAX, CRB_NOTE_TYPE, {'C', 'R', 'B', '\0'}, {}};
  size_t length = 0;
  const auto add = [&made, &length](const char *text) {
    for (; *text; text++) made.desc[length++] = *text;
  };
  add("{\"id\":\"");
  add(identity.id);
  add("\",\"version\":\"");
  add(identity.version);
  add("\",\"abi\":[1,0]");
  const char *before = ",\"capabilities\":[\"";
  for (const char *capability : identity.capabilities) {
    if (!capability) continue;
    add(before);
    add(capability);
    add("\"");
    before = ",\"";
  }
  add(identity.capabilities[0] ? "]}" : "}");
  return made;
}

template <class Plugin>
const crb_interceptor *interceptor() {
  check_hooks<Plugin>();
  static const crb_interceptor table = [] {
    crb_interceptor i{};
    i.size = sizeof i;
    i.thread_class = static_cast<uint32_t>(Plugin::identity.threads);
    i.id = Plugin::identity.id;
    i.version = Plugin::identity.version;
    i.name = Plugin::identity.name;
    i.vendor = Plugin::identity.vendor;
    i.url = Plugin::identity.url;
    i.config_schema = Plugin::identity.config_schema;
    i.graphql = graphql_stage<Plugin>();
    i.http = http_stage<Plugin>();
    i.cache = cache_stage<Plugin>();
    i.parser = parser_stage<Plugin>();
    if constexpr (validates<Plugin>::value) i.validate = validate<Plugin>;
    i.create = create<Plugin>;
    if constexpr (drains<Plugin>::value) i.drain = drain<Plugin>;
    i.destroy = destroy<Plugin>;
    if constexpr (hands_over<Plugin>::value || tests_itself<Plugin>::value) i.extension = extension<Plugin>;
    return i;
  }();
  return &table;
}

/// The registration table of a library.
template <class... Plugins>
const crb_plugin *registration() {
  static const crb_interceptor *const items[] = {interceptor<Plugins>()...};
  static const crb_plugin table_of_all = [] {
    crb_plugin p{};
    p.size = sizeof p;
    p.abi_major = CRB_ABI_MAJOR;
    p.abi_minor_built = CRB_ABI_MINOR;
    p.count = sizeof...(Plugins);
    p.items = items;
    return p;
  }();
  return &table_of_all;
}

template <class First, class...>
struct first_of {
  using type = First;
};

}  // namespace detail
}  // namespace crb

/// Exports one or more plugins of a library: `CARABINER_PLUGIN(First, Second);` The note describes the first plugin. A manifest
/// selects one of several with `interceptor: ID`.
#define CARABINER_PLUGIN(...)                                                                                              \
  __attribute__((section(".note.crb"), used, aligned(4))) static constexpr crb_note crb_note_ =                            \
      crb::detail::note(crb::detail::first_of<__VA_ARGS__>::type::identity);                                               \
  extern "C" CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {                                                \
    crb::table = h;                                                                                                        \
    return crb::detail::registration<__VA_ARGS__>();                                                                       \
  }                                                                                                                        \
  static_assert(true, "so that the macro may be followed by a semicolon")

#endif
