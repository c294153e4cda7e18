// What is behind every call: the instance it passes, its state, and the functions any thread may call.
#ifndef CARABINER_WATCHED_HPP
#define CARABINER_WATCHED_HPP

#include <atomic>

#include "host.hpp"

namespace crb {
namespace detail {

/// An instance, counted: work that was suspended keeps it alive beyond destroy().
struct Core {
  explicit Core(crb_self self) noexcept : host(self) {}
  Core(const Core &) = delete;
  Core &operator=(const Core &) = delete;
  virtual ~Core() = default;

  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  Host host;
  std::atomic<uint32_t> references{1};
};

/// A stage's own object for one call, behind the state word.
struct State {
  explicit State(void (*drop)(State *)) noexcept : drop(drop) {}
  /// Also tells which type it holds.
  void (*drop)(State *);
};

template <class T>
struct StateOf : State {
  template <class... Arguments>
  explicit StateOf(Arguments &&...arguments) : State(&StateOf::drop_this), value(std::forward<Arguments>(arguments)...) {}
  static void drop_this(State *state) noexcept { delete static_cast<StateOf *>(state); }

  T value;
};

/// Where a hook stands: the instance, the call, and the state word.
struct Place {
  Core *core;
  crb_call call;
  void *state;
  /// Where the state word can be set; only in the first hook of a stage.
  void **slot;
};

/// A call, and what any thread may ask about it.
class Watched {
 public:
  explicit Watched(const Place &place) noexcept : place_(place) {}
  Watched(const Watched &) = delete;
  Watched &operator=(const Watched &) = delete;

  crb_call handle() const noexcept { return place_.call; }
  /// 0 for the first try.
  uint32_t attempt() const noexcept { return table->attempt(place_.call); }
  /// A number all stages of one call share.
  uint64_t request_id() const noexcept { return table->request_id(place_.call); }
  /// CRB_OPERATION_*
  uint32_t operation_type() const noexcept { return table->operation_type(place_.call); }
  /// True also when the call is over.
  bool is_cancelled() const noexcept { return table->cancelled(place_.call) != 0; }
  /// When the call must be done, on the host's clock; UINT64_MAX: never.
  uint64_t deadline_ns() const noexcept { return table->deadline_ns(place_.call); }
  const Host &host() const noexcept { return place_.core->host; }
  void log(Level level, std::string_view line) const noexcept { host().log(level, line, place_.call); }

  /// This stage's object for this call; NULL if none was made. In on_cancel another hook may be using it.
  template <class T>
  T *state() const {
    auto *known = static_cast<State *>(place_.state);
    if (!known) return nullptr;
    if (known->drop != &StateOf<T>::drop_this) throw Failure("the state of this call is of another type");
    return &static_cast<StateOf<T> *>(known)->value;
  }

 protected:
  Place place_;
};

}  // namespace detail
}  // namespace crb

#endif
