// Builds the tables of the contract from the hooks of a class. The slots of missing hooks stay NULL.
#ifndef CARABINER_STAGES_HPP
#define CARABINER_STAGES_HPP

#include <tuple>

#include "call.hpp"
#include "plugin.hpp"

namespace crb {
namespace detail {

// -- Which hooks a class has

#define CRB_HOOK(name)                                                                                             \
  struct name##_hook {                                                                                             \
    template <class P, class... A>                                                                                 \
    static auto call(P &plugin, A &...arguments) -> decltype(plugin.name(arguments...)) {                          \
      return plugin.name(arguments...);                                                                            \
    }                                                                                                              \
  };                                                                                                               \
  struct name##_name {                                                                                             \
    int name;                                                                                                      \
  };                                                                                                               \
  /* If the class has the name too, the lookup is ambiguous and fails. This finds members of every form.        */ \
  template <class P, class = void>                                                                                 \
  struct has_##name : std::true_type {};                                                                           \
  template <class P>                                                                                               \
  struct has_##name<P, std::void_t<decltype(&either<P, name##_name>::name)>> : std::false_type {}

template <class P, class Q>
struct either : P, Q {};

CRB_HOOK(on_request);
CRB_HOOK(on_result);
CRB_HOOK(on_head);
CRB_HOOK(on_chunk);
CRB_HOOK(on_read);
CRB_HOOK(on_write);
CRB_HOOK(on_error);
CRB_HOOK(on_end);
CRB_HOOK(on_cancel);
#undef CRB_HOOK

template <class Hook, class P, class Arguments, class = void>
struct answers_to : std::false_type {};
template <class Hook, class P, class... A>
struct answers_to<Hook, P, std::tuple<A...>, std::void_t<decltype(Hook::call(std::declval<P &>(), std::declval<A &>()...))>>
    : std::true_type {};

/// Whether a class has a hook that can be called with these arguments.
template <class Hook, class P, class... A>
constexpr bool has = answers_to<Hook, P, std::tuple<A...>>::value;

// -- The functions the host calls

template <class P>
P &plugin(void *inst) noexcept {
  return static_cast<Instance<P> *>(static_cast<Held *>(inst))->plugin;
}

template <class Hook, class P, class Call>
crb_verdict first(void *inst, crb_call handle, void **state) noexcept {
  Call call(Place{core_of(inst), handle, static_cast<State *>(*state), state});
  return call.returned(guarded(handle, [&] { return Hook::call(plugin<P>(inst), call); }));
}

template <class Hook, class P, class Call, class Event, class Raw>
crb_verdict first_with(void *inst, crb_call handle, void **state, const Raw *raw) noexcept {
  Call call(Place{core_of(inst), handle, static_cast<State *>(*state), state});
  const Event event(*raw);
  return call.returned(guarded(handle, [&] { return Hook::call(plugin<P>(inst), call, event); }));
}

template <class Hook, class P, class Call>
crb_verdict further(void *inst, crb_call handle, void *state) noexcept {
  Call call(Place{core_of(inst), handle, static_cast<State *>(state), nullptr});
  return call.returned(guarded(handle, [&] { return Hook::call(plugin<P>(inst), call); }));
}

/// A result in place of another one keeps whether more results follow, and whether it is a part of a response.
struct ResultFlags {
  template <class Call, class Raw>
  static void keep(Call &, const Raw &) {}
  static void keep(graphql::Call &call, const crb_result &raw) {
    call.result_flags_ = raw.flags & (CRB_RESULT_HAS_NEXT | CRB_RESULT_INCREMENTAL);
  }
};

template <class Hook, class P, class Call, class Event, class Raw>
crb_verdict further_with(void *inst, crb_call handle, void *state, const Raw *raw) noexcept {
  Call call(Place{core_of(inst), handle, static_cast<State *>(state), nullptr});
  ResultFlags::keep(call, *raw);
  const Event event(*raw);
  return call.returned(guarded(handle, [&] { return Hook::call(plugin<P>(inst), call, event); }));
}

template <class P, class Cancelled>
void cancelled(void *inst, crb_call handle, void *state) noexcept {
  auto *core = core_of(inst);
  if constexpr (has<on_cancel_hook, P, Cancelled>) {
    Cancelled call(Place{core, handle, static_cast<State *>(state), nullptr});
    core->contained([&] { plugin<P>(inst).on_cancel(call); });
  }
  // Finishes the hook if the plugin has not done so in on_cancel.
  core->cancel(handle);
}

inline void release(void *inst, void *state) noexcept { core_of(inst)->release(static_cast<State *>(state)); }

// -- The tables

template <class P, class Call, class Cancelled, class Table>
void fill_tail(Table &t, const Parts &parts) {
  t.size = sizeof t;
  t.needs = parts.needs;
  t.mutates = parts.mutates;
  if constexpr (has<on_error_hook, P, Call, const Error>) t.on_error = further_with<on_error_hook, P, Call, Error, crb_error>;
  if constexpr (has<on_end_hook, P, Call>) t.on_end = further<on_end_hook, P, Call>;
  // Set even if the class has no on_cancel: a suspended hook must be finished.
  t.on_cancel = cancelled<P, Cancelled>;
  // Called only for calls that made a state.
  t.release = release;
}

#define CRB_PARTS(stage)                                                                   \
  template <class P, class = void>                                                         \
  struct stage##_parts {                                                                   \
    static constexpr bool are_given = false;                                               \
    static constexpr Parts value{};                                                        \
  };                                                                                       \
  template <class P>                                                                       \
  struct stage##_parts<P, std::enable_if_t<std::is_same_v<decltype(P::stage), const Parts>>> { \
    static constexpr bool are_given = true;                                                \
    static constexpr Parts value = P::stage;                                               \
  }
CRB_PARTS(graphql);
CRB_PARTS(http);
CRB_PARTS(cache);
CRB_PARTS(parser);
#undef CRB_PARTS

template <class P>
const crb_graphql_stage *graphql_stage() {
  using graphql::Call;
  if constexpr (has<on_request_hook, P, Call>) {
    static const crb_graphql_stage table = [] {
      crb_graphql_stage t{};
      fill_tail<P, Call, graphql::Cancelled>(t, graphql_parts<P>::value);
      t.on_request = first<on_request_hook, P, Call>;
      if constexpr (has<on_result_hook, P, Call, const Result>) t.on_result = further_with<on_result_hook, P, Call, Result, crb_result>;
      return t;
    }();
    return &table;
  } else {
    static_assert(!has<on_result_hook, P, Call, const Result> && !graphql_parts<P>::are_given,
                  "a GraphQL stage has on_request(crb::graphql::Call &)");
    return nullptr;
  }
}

template <class P>
const crb_http_stage *http_stage() {
  using http::Call;
  if constexpr (has<on_request_hook, P, Call>) {
    static const crb_http_stage table = [] {
      crb_http_stage t{};
      fill_tail<P, Call, http::Cancelled>(t, http_parts<P>::value);
      t.on_request = first<on_request_hook, P, Call>;
      if constexpr (has<on_head_hook, P, Call, const Head>) t.on_head = further_with<on_head_hook, P, Call, Head, crb_head>;
      if constexpr (has<on_chunk_hook, P, Call, const Chunk>) t.on_chunk = further_with<on_chunk_hook, P, Call, Chunk, crb_chunk>;
      return t;
    }();
    return &table;
  } else {
    static_assert(!has<on_head_hook, P, Call, const Head> && !has<on_chunk_hook, P, Call, const Chunk> && !http_parts<P>::are_given,
                  "an HTTP stage has on_request(crb::http::Call &)");
    return nullptr;
  }
}

template <class P>
const crb_cache_stage *cache_stage() {
  using cache::Call;
  if constexpr (has<on_read_hook, P, Call>) {
    static const crb_cache_stage table = [] {
      crb_cache_stage t{};
      fill_tail<P, Call, cache::Cancelled>(t, cache_parts<P>::value);
      t.on_read = first<on_read_hook, P, Call>;
      if constexpr (has<on_write_hook, P, Call, const Result>) t.on_write = further_with<on_write_hook, P, Call, Result, crb_result>;
      return t;
    }();
    return &table;
  } else {
    static_assert(!has<on_write_hook, P, Call, const Result> && !cache_parts<P>::are_given,
                  "a cache stage has on_read(crb::cache::Call &)");
    return nullptr;
  }
}

template <class P, class = void>
struct accept_of {
  static constexpr const char *value = nullptr;
};
template <class P>
struct accept_of<P, std::enable_if_t<std::is_same_v<decltype(P::accept), const char *const>>> {
  static constexpr const char *value = P::accept;
};

template <class P>
const crb_parser_stage *parser_stage() {
  using parser::Call;
  if constexpr (has<on_head_hook, P, Call, const Head>) {
    static const crb_parser_stage table = [] {
      crb_parser_stage t{};
      fill_tail<P, Call, parser::Cancelled>(t, parser_parts<P>::value);
      t.on_head = first_with<on_head_hook, P, Call, Head, crb_head>;
      if constexpr (has<on_chunk_hook, P, Call, const Chunk>) t.on_chunk = further_with<on_chunk_hook, P, Call, Chunk, crb_chunk>;
      t.accept = accept_of<P>::value;
      return t;
    }();
    return &table;
  } else {
    static_assert(!has<on_chunk_hook, P, Call, const Chunk> && !parser_parts<P>::are_given && !accept_of<P>::value,
                  "a parser has on_head(crb::parser::Call &, const crb::Head &)");
    return nullptr;
  }
}

/// A hook that fits no stage would never be called, so it is a compile error.
template <class P>
constexpr void check_hooks() {
  using G = graphql::Call;
  using H = http::Call;
  using C = cache::Call;
  using R = parser::Call;
  static_assert(!has_on_request<P>::value || has<on_request_hook, P, G> || has<on_request_hook, P, H>,
                "on_request takes a crb::graphql::Call & or a crb::http::Call &");
  static_assert(!has_on_result<P>::value || has<on_result_hook, P, G, const Result>,
                "on_result takes a crb::graphql::Call & and a const crb::Result &");
  static_assert(!has_on_head<P>::value || has<on_head_hook, P, H, const Head> || has<on_head_hook, P, R, const Head>,
                "on_head takes a crb::http::Call & or a crb::parser::Call &, and a const crb::Head &");
  static_assert(!has_on_chunk<P>::value || has<on_chunk_hook, P, H, const Chunk> || has<on_chunk_hook, P, R, const Chunk>,
                "on_chunk takes a crb::http::Call & or a crb::parser::Call &, and a const crb::Chunk &");
  static_assert(!has_on_read<P>::value || has<on_read_hook, P, C>, "on_read takes a crb::cache::Call &");
  static_assert(!has_on_write<P>::value || has<on_write_hook, P, C, const Result>,
                "on_write takes a crb::cache::Call & and a const crb::Result &");
  static_assert(!has_on_error<P>::value || has<on_error_hook, P, G, const Error> || has<on_error_hook, P, H, const Error> ||
                    has<on_error_hook, P, R, const Error>,
                "on_error takes the Call & of a GraphQL, HTTP or parser stage, and a const crb::Error &");
  static_assert(!has_on_end<P>::value || has<on_end_hook, P, G> || has<on_end_hook, P, H> || has<on_end_hook, P, R>,
                "on_end takes the Call & of a GraphQL, HTTP or parser stage");
  static_assert(!has_on_cancel<P>::value || has<on_cancel_hook, P, graphql::Cancelled> || has<on_cancel_hook, P, http::Cancelled> ||
                    has<on_cancel_hook, P, cache::Cancelled> || has<on_cancel_hook, P, parser::Cancelled>,
                "on_cancel takes the Cancelled & of a stage");
}

}  // namespace detail
}  // namespace crb

#endif
