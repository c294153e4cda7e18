// Waiting without blocking: a hook is suspended and finished later on any thread.
//
//     return call.after(10ms, [](crb::graphql::Call &call) { ...; return crb::Verdict::Continue; });
//     return call.fetch({"https://..."}, [](crb::graphql::Call &call, const crb::FetchResponse &response) { ... });
//     return call.load({"Book:1"}, [](crb::cache::Call &call, const crb::StoreAnswer &answer) { ... });
//     return call.later([](auto later) { queue.push([later = std::move(later)]() mutable {
//       later.finish([](crb::graphql::Call &call) { ... });
//     }); });
//
// An exception in the work fails the call with its what(). Work that is dropped unfinished also fails the call. When the call is
// cancelled, the hook is finished at once and the work does not run.
#ifndef CARABINER_LATER_HPP
#define CARABINER_LATER_HPP

#include <type_traits>

#include "gate.hpp"

namespace crb {
namespace detail {

/// Runs the plugin's code and catches its exceptions. Code that returns nothing means Continue.
template <class Hook>
crb_verdict guarded(crb_call call, Hook &&hook) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(hook())>) {
      hook();
      return CRB_CONTINUE;
    } else {
      return static_cast<crb_verdict>(hook());
    }
  } catch (const Failure &failure) {
    return fail(call, failure);
  } catch (const std::logic_error &error) {
    // Such as an index out of range, which is a fault of the plugin.
    return fail(call, error.what(), CRB_ERROR_PLUGIN_FAULT);
  } catch (const std::exception &error) {
    return fail(call, error.what());
  } catch (...) {
    return fail(call, "the plugin threw an exception that is not a std::exception");
  }
}

}  // namespace detail

/// A suspended hook. Finish it once, on any thread.
///
/// It holds no objects of the plugin. Once the destruction of the instance has begun, new work does not run. The plugin's destructor
/// waits for running work and runs on a host thread.
template <class Call>
class Later {
 public:
  Later(const detail::Place &place, std::shared_ptr<detail::Gate> gate)
      : core_(place.core->shared_from_this()), call_(place.call), state_(place.state), gate_(std::move(gate)) {
    if (!state_) return;
    if (!state_->users) state_->users = std::make_shared<detail::State::Users>();
    users_ = state_->users;
  }
  Later(Later &&other) noexcept
      : core_(other.core_), call_(other.call_), state_(other.state_), users_(std::move(other.users_)), gate_(std::move(other.gate_)) {}
  Later(const Later &) = delete;
  Later &operator=(const Later &) = delete;
  ~Later() { fail("the plugin dropped a suspended hook without finishing it"); }

  /// Whether the hook is still waiting: it was not finished and the call was not cancelled.
  bool is_wanted() const noexcept { return gate_ && table->cancelled(call_) == 0; }

  /// Runs `work(call)` on this thread; its return value is the hook's verdict. Objects held by `work` are destroyed before the hook
  /// ends.
  template <class Work>
  void finish(Work &&work) noexcept {
    end([&] {
      using Owned = std::conditional_t<std::is_lvalue_reference_v<Work>, Work, std::decay_t<Work>>;
      Owned owned = std::forward<Work>(work);
      const bool has_state = users_ && core_->use(*users_);
      Call call(detail::Place{core_.get(), call_, has_state ? state_ : nullptr, nullptr});
      const crb_verdict verdict = detail::guarded(call_, [&] { return owned(call); });
      if (has_state) core_->end_use(*users_);
      return verdict;
    });
  }
  void finish(Verdict verdict) noexcept {
    end([&] { return static_cast<crb_verdict>(verdict); });
  }
  void fail(const char *message) noexcept {
    end([&] { return detail::fail(call_, message); });
  }

  /// Finishes the hook with `work(call)` after the delay.
  template <class Work>
  void after(std::chrono::nanoseconds delay, Work work) noexcept {
    hand_over([&](auto later) {
      later->host().after(delay, [later, work = std::move(work)]() mutable { later->finish(std::move(work)); });
    });
  }

  /// Finishes the hook with `work(call, response)` when the response arrives. A failed request fails the hook.
  template <class Work>
  void fetch(const FetchRequest &request, Work work) noexcept {
    hand_over([&](auto later) {
      later->host().fetch(request, [later, work = std::move(work)](const FetchResponse *response, const Error *error) mutable {
        later->finish([&](Call &call) {
          if (!response) throw Failure(std::string(error->message), error->code, error->flags);
          return work(call, *response);
        });
      });
    });
  }

  /// Finishes the hook with `work(call, answer)` when the host's store has returned records. A failure fails the hook.
  template <class Work>
  void load(const std::vector<std::string> &keys, Work work) noexcept {
    hand_over([&](auto later) { later->host().load(keys, answered(later, std::move(work))); });
  }
  /// Finishes the hook with `work(call, answer)` when the records are written. A failure fails the hook.
  template <class Work>
  void publish(std::string_view records, Work work) noexcept {
    hand_over([&](auto later) { later->host().publish(records, answered(later, std::move(work))); });
  }
  /// Finishes the hook with `work(call, answer)` when the records are removed. A failure fails the hook.
  template <class Work>
  void remove(const std::vector<std::string> &keys, Work work) noexcept {
    hand_over([&](auto later) { later->host().remove(keys, answered(later, std::move(work))); });
  }
  /// Finishes the hook with `work(call, answer)` when the matching records are removed. A failure fails the hook.
  template <class Work>
  void remove_matching(std::string_view pattern, Work work) noexcept {
    hand_over([&](auto later) { later->host().remove_matching(pattern, answered(later, std::move(work))); });
  }

  const Host &host() const noexcept { return core_->host; }

 private:
  /// A callback that finishes the hook with the answer of the store.
  template <class Work>
  static auto answered(std::shared_ptr<Later> later, Work work) {
    return [later = std::move(later), work = std::move(work)](const StoreAnswer *answer, const Error *error) mutable {
      later->finish([&](Call &call) {
        if (!answer) throw Failure(std::string(error->message), error->code, error->flags);
        return work(call, *answer);
      });
    };
  }

  /// If the work cannot be started, the hook fails with the reason.
  template <class Start>
  void hand_over(Start start) noexcept {
    try {
      auto later = std::make_shared<Later>(std::move(*this));
      try {
        start(later);
      } catch (const std::exception &error) {
        later->fail(error.what());
      }
    } catch (...) {
      fail("the plugin has no memory to wait with");
    }
  }

  /// Finishes the hook with the return value of `verdict()`, unless it is finished already.
  template <class Decide>
  void end(Decide &&verdict) noexcept {
    const auto gate = std::exchange(gate_, nullptr);
    if (!gate || !core_->tasks().enter()) return;
    if (gate->enter()) gate->finish(verdict());
    core_->tasks().leave();
  }

  std::shared_ptr<detail::Core> core_;
  crb_call call_;
  detail::State *state_;
  std::shared_ptr<detail::State::Users> users_;
  std::shared_ptr<detail::Gate> gate_;
};

namespace detail {

/// The functions of a call inside a hook, for every kind of stage.
template <class Self>
class Suspendable : public Watched {
 public:
  using Watched::Watched;

  // Reading.

  /// A part of the message (CRB_PART_*), or nothing if it is absent.
  std::optional<std::string_view> part(uint32_t which) const {
    crb_view out{nullptr, 0};
    const crb_status status = table->field_get(handle(), which, &out);
    if (status == CRB_E_NOTFOUND) return std::nullopt;
    check(status, "a look at a part of the message");
    return text(out);
  }
  /// The first value of a header, by case-insensitive name.
  std::optional<std::string_view> header(std::string_view name) const {
    crb_view out{nullptr, 0};
    const crb_status status = table->header_get(handle(), view(name), &out);
    if (status == CRB_E_NOTFOUND) return std::nullopt;
    check(status, "a look at a header");
    return text(out);
  }
  Headers headers() const {
    const crb_header *fields = nullptr;
    size_t count = 0;
    check(table->headers(handle(), &fields, &count), "a look at the headers");
    return Headers(fields, count);
  }

  // Baggage.

  /// The innermost visible value, or nothing if there is none.
  std::optional<Value> baggage(crb_key key) const {
    crb_value out{};
    const crb_status status = table->bag_get(handle(), key, &out);
    if (status == CRB_E_NOTFOUND) return std::nullopt;
    check(status, "a look at the baggage");
    return Value(out);
  }
  /// `scope` is CRB_SCOPE_INNER or CRB_SCOPE_CALL. Value() hides the current value.
  void set_baggage(crb_key key, const Value &value, uint32_t scope = CRB_SCOPE_INNER) {
    check(table->bag_set(handle(), key, scope, &value.raw()), "the baggage");
  }

  // Memory.

  /// Counted bytes, copied.
  Buffer buffer(std::string_view bytes) const { return Buffer(host().self(), bytes); }
  /// Zeroed memory for `count` values; it lives until the call is over.
  template <class T>
  T *scratch(size_t count = 1) {
    static_assert(std::is_trivial_v<T>, "nothing is constructed or destroyed in scratch memory");
    void *memory = count > SIZE_MAX / sizeof(T) ? nullptr : table->scratch(handle(), count * sizeof(T), alignof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T *>(memory);
  }
  /// This stage's object for this call, made in its first hook. A retry returns the object made before.
  template <class T, class... Arguments>
  T &make_state(Arguments &&...arguments) {
    if (!place_.state) {
      if (!place_.slot) throw Failure("state is made in the first hook of a stage");
      place_.state = new StateOf<T>(std::forward<Arguments>(arguments)...);
      // Stored as a State pointer, the type that later hooks read.
      *place_.slot = place_.state;
    }
    return *state<T>();
  }

  // Waiting.

  /// Reports that the hook has returned. Returns the verdict for the host.
  crb_verdict returned(crb_verdict verdict) noexcept {
    if (!gate_) return verdict;
    gate_->hook_returned(verdict);
    return CRB_PENDING;
  }
  /// Suspends this hook. `start(Later<Call>)` passes it to the code that will finish it. `return call.later(...);`
  template <class Start>
  Verdict later(Start &&start) {
    Later<Self> later = suspend();
    try {
      start(std::move(later));
    } catch (const std::exception &error) {
      // The hook is suspended. Unless `start` has moved `later`, it fails here.
      later.fail(error.what());
    }
    return pending;
  }
  /// Finishes this hook with `work(call)` after a delay. `return call.after(...);`
  template <class Work>
  Verdict after(std::chrono::nanoseconds delay, Work &&work) {
    suspend().after(delay, std::forward<Work>(work));
    return pending;
  }
  /// Finishes this hook with `work(call, response)`. `return call.fetch(...);`
  template <class Work>
  Verdict fetch(const FetchRequest &request, Work &&work) {
    suspend().fetch(request, std::forward<Work>(work));
    return pending;
  }
  /// Finishes this hook with `work(call, answer)` when the host's store has returned records. `return call.load(...);`
  template <class Work>
  Verdict load(const std::vector<std::string> &keys, Work &&work) {
    suspend().load(keys, std::forward<Work>(work));
    return pending;
  }
  /// Finishes this hook with `work(call, answer)` when the records are written. `return call.publish(...);`
  template <class Work>
  Verdict publish(std::string_view records, Work &&work) {
    suspend().publish(records, std::forward<Work>(work));
    return pending;
  }
  /// Finishes this hook with `work(call, answer)` when the records are removed. `return call.remove(...);`
  template <class Work>
  Verdict remove(const std::vector<std::string> &keys, Work &&work) {
    suspend().remove(keys, std::forward<Work>(work));
    return pending;
  }
  /// Finishes this hook with `work(call, answer)` when the matching records are removed. `return call.remove_matching(...);`
  template <class Work>
  Verdict remove_matching(std::string_view pattern, Work &&work) {
    suspend().remove_matching(pattern, std::forward<Work>(work));
    return pending;
  }

 protected:
  void set_part(uint32_t which, std::string_view bytes, const char *what) {
    check(table->field_set(handle(), which, buffer(bytes).take()), what);
  }
  void change_header(std::string_view name, std::string_view value, bool append) {
    check(table->header_set(handle(), view(name), view(value), append ? CRB_HEADER_APPEND : CRB_HEADER_REPLACE), "the header");
  }
  void drop_header(std::string_view name) { check(table->header_set(handle(), view(name), absent, 0), "the header"); }
  void stage(uint32_t kind, Buffer bytes, uint32_t flags) {
    check(table->emit(handle(), kind, bytes.take(), flags), "the emitted data");
  }
  Verdict again(uint32_t scope, std::chrono::nanoseconds delay) {
    check(table->set_retry(handle(), scope, delay.count() > 0 ? static_cast<uint64_t>(delay.count()) : 0), "the retry");
    return Verdict::Retry;
  }

 private:
  static constexpr Verdict pending = static_cast<Verdict>(CRB_PENDING);

  Later<Self> suspend() {
    auto gate = std::make_shared<Gate>(place_.core, handle());
    if (!place_.core->await(handle(), gate)) throw Failure("this hook is suspended already");
    const crb_token token = table->suspend(handle());
    if (!token) {
      place_.core->forget(handle());
      throw Failure("the host cannot suspend this hook");
    }
    gate->arm(token);
    gate_ = gate;
    // The call may have been cancelled before the gate existed.
    if (is_cancelled()) gate->cancel();
    return Later<Self>(place_, std::move(gate));
  }

  std::shared_ptr<Gate> gate_;
};

}  // namespace detail
}  // namespace crb

#endif
