// What is behind every call: the instance it passes, its state, and the functions any thread may call.
#ifndef CARABINER_WATCHED_HPP
#define CARABINER_WATCHED_HPP

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "host.hpp"

namespace crb {
namespace detail {

class Gate;

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

  /// Notes that a hook of this call is about to be suspended; false if one is.
  bool await(crb_call call, const std::shared_ptr<Gate> &gate) {
    const std::lock_guard<std::mutex> guard(lock);
    return gates.emplace(call, gate).second;
  }
  void forget(crb_call call) noexcept {
    const std::lock_guard<std::mutex> guard(lock);
    gates.erase(call);
  }
  /// Ends the wait of a call that was cancelled.
  void cancel(crb_call call) noexcept;

  Host host;
  std::atomic<uint32_t> references{1};

 private:
  std::mutex lock;
  /// The suspended hooks.
  std::unordered_map<crb_call, std::shared_ptr<Gate>> gates;
};

/// A stage's own object for one call, behind the state word. The host's reference is `self`; suspended work has a weak one, for the
/// call may be over before it comes.
struct State {
  explicit State(const char *type) noexcept : type(type) {}
  /// Tells which type it holds.
  const char *type;
  std::shared_ptr<State> self;
};

template <class T>
struct StateOf : State {
  template <class... Arguments>
  explicit StateOf(Arguments &&...arguments) : State(&tag), value(std::forward<Arguments>(arguments)...) {}

  static inline const char tag = 0;
  T value;
};

/// Where a hook stands: the instance, the call, and the state word.
struct Place {
  Core *core;
  crb_call call;
  State *state;
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

  /// This stage's object for this call; NULL if none was made, or the call is over. In on_cancel another hook may be using it.
  template <class T>
  T *state() const {
    if (!place_.state) return nullptr;
    if (place_.state->type != &StateOf<T>::tag) throw Failure("the state of this call is of another type");
    return &static_cast<StateOf<T> *>(place_.state)->value;
  }

 protected:
  Place place_;
};

}  // namespace detail
}  // namespace crb

#endif
