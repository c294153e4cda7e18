// Optional functions besides the stages: state that the next instance receives, and self-tests.
//
// A plugin hands state, for example a fetched token, to the next instance of its manifest entry with
//
//     static constexpr uint32_t state_version = 1;        // version of the byte layout: increase it when the layout changes
//     std::optional<std::string> save();                  // at most 16 MiB; calls can be running meanwhile
//     void adopt(uint32_t version, std::string_view);     // before the first hook; never with a newer version
//
// The bytes can come from another version of the plugin or be damaged: check every length in them. If either function throws,
// the new instance works as its constructor left it, and the host logs the reason; so after throwing, adopt() must leave no changes.
//
// A plugin learns that no new calls will start, for example to end connections that only new calls need, with
//
//     void drain();                                       // once, before the destructor; running calls finish
//
// An instance for one call (Threads::PerCall) is not drained.
//
// A plugin adds self-tests, which `carabiner conform` runs together with its own checks, with
//
//     static auto self_tests() {
//       return std::array{crb::SelfTest<Hello>{"it greets", [](Hello &hello) { ...; return true; }}};
//     }
#ifndef CARABINER_EXTENSIONS_HPP
#define CARABINER_EXTENSIONS_HPP

#include <array>
#include <cstring>
#include <optional>

#include "stages.hpp"

namespace crb {

/// A test of something only the plugin can check, for example that a signature follows its standard.
template <class Plugin>
struct SelfTest {
  /// A description for people.
  const char *name;
  /// Runs the test with its own instance. Returns false if the test does not apply here. A thrown exception has the actual and the
  /// expected result.
  bool (*run)(Plugin &);
};

namespace detail {

template <class P, class = void>
struct hands_over : std::false_type {};
template <class P>
struct hands_over<P, std::void_t<decltype(P::state_version)>> : std::true_type {};

template <class P, class = void>
struct tests_itself : std::false_type {};
template <class P>
struct tests_itself<P, std::void_t<decltype(P::self_tests())>> : std::true_type {};

template <class P, class = void>
struct drains : std::false_type {};
template <class P>
struct drains<P, std::void_t<decltype(std::declval<P &>().drain())>> : std::true_type {};

template <class P>
void drain(void *inst) noexcept {
  core_of(inst)->contained([&] { plugin<P>(inst).drain(); });
}

template <class P>
crb_status save(void *inst, crb_buf *bytes, crb_error *why) noexcept {
  return reporting(why, [&] {
    if (auto saved = plugin<P>(inst).save()) *bytes = Buffer::adopting(core_of(inst)->host.self(), std::move(*saved)).take();
    return CRB_OK;
  });
}

template <class P>
crb_status adopt(void *inst, uint32_t version, crb_view bytes, crb_error *why) noexcept {
  return reporting(why, [&] {
    if (version > P::state_version) {
      const std::string known = std::to_string(P::state_version);
      refuse(why, ("a newer version wrote this state: its layout is " + std::to_string(version) + ", and " + known + " is known").c_str());
      return CRB_E_UNSUPPORTED;
    }
    plugin<P>(inst).adopt(version, text(bytes));
    return CRB_OK;
  });
}

template <class P>
const crb_state *state_table() noexcept {
  static const crb_state table = [] {
    crb_state t{};
    t.size = sizeof t;
    t.version = P::state_version;
    t.save = save<P>;
    t.adopt = adopt<P>;
    return t;
  }();
  return &table;
}

template <class P>
const crb_selftest *test_table() noexcept {
  static const auto tests = P::self_tests();
  static const crb_selftest table = [] {
    crb_selftest t{};
    t.size = sizeof t;
    t.count = static_cast<uint32_t>(tests.size());
    t.name = [](uint32_t n) -> const char * { return n < tests.size() ? tests[n].name : nullptr; };
    t.run = [](void *inst, uint32_t n, crb_error *why) {
      return reporting(why, [&] {
        if (n >= tests.size()) throw Failure("there is no such test");
        return tests[n].run(plugin<P>(inst)) ? CRB_OK : CRB_E_UNSUPPORTED;
      });
    };
    return t;
  }();
  return &table;
}

template <class P>
const void *extension(void *, const char *id) noexcept {
  if constexpr (hands_over<P>::value) {
    if (std::strcmp(id, "crb.state/1") == 0) return state_table<P>();
  }
  if constexpr (tests_itself<P>::value) {
    if (std::strcmp(id, "crb.selftest/1") == 0) return test_table<P>();
  }
  return nullptr;
}

}  // namespace detail
}  // namespace crb

#endif
