// The base of every call: its instance, its state, and the functions that any thread may call.
#ifndef CARABINER_WATCHED_HPP
#define CARABINER_WATCHED_HPP

#include <mutex>
#include <unordered_map>

#include "host.hpp"

namespace crb {
namespace detail {

class Gate;

/// A stage's own object for one call. The state word points to it.
struct State {
  explicit State(const char *its_type) noexcept : type(its_type) {}
  virtual ~State() = default;

  /// Counts the work that uses the state. Work of a suspended hook shares it, because the call may be over before the work
  /// runs.
  struct Users {
    size_t count = 0;
    bool is_released = false;
  };

  /// Identifies the type of the object.
  const char *const type;
  /// NULL until a hook of the call is suspended.
  std::shared_ptr<Users> users;
  /// The next released state that is still in use.
  State *next = nullptr;
};

template <class T>
struct StateOf final : State {
  template <class... Arguments>
  explicit StateOf(Arguments &&...arguments) : State(&tag), value(std::forward<Arguments>(arguments)...) {}

  static inline const char tag = 0;
  T value;
};

/// Data that suspended work shares with its instance and may keep longer: nothing that belongs to the plugin.
struct Core : std::enable_shared_from_this<Core> {
  explicit Core(crb_self self) : host(self) {}
  Core(const Core &) = delete;
  Core &operator=(const Core &) = delete;

  Tasks &tasks() noexcept { return *host.tasks_; }

  /// Runs the plugin's code where there is no verdict. An exception is logged.
  template <class Work>
  void contained(Work &&work) const noexcept {
    host.contained(std::forward<Work>(work));
  }

  /// Notes that a hook of this call is about to be suspended. False if one is already.
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

  /// Marks a state as used by work. False if the call is over.
  bool use(State::Users &users) noexcept {
    const std::lock_guard<std::mutex> guard(lock);
    if (!users.is_released) users.count++;
    return !users.is_released;
  }
  void end_use(State::Users &users) noexcept {
    const std::lock_guard<std::mutex> guard(lock);
    users.count--;
  }
  /// Destroys a state on this host thread. A state in use is destroyed by a later release, after the work has finished.
  void release(State *state) noexcept {
    if (!state->users) {
      delete state;
      return;
    }
    {
      const std::lock_guard<std::mutex> guard(lock);
      state->users->is_released = true;
      state->next = released;
      released = state;
    }
    sweep();
  }

  /// Ends all work of the instance: resumes its hooks, drops waiting work and waits for running work.
  void close() noexcept;

  const Host host;

 private:
  /// Destroys the released states that are not in use.
  void sweep() noexcept {
    State *idle = nullptr;
    {
      const std::lock_guard<std::mutex> guard(lock);
      for (State **place = &released; *place;) {
        State *const state = *place;
        if (state->users->count > 0) {
          place = &state->next;
        } else {
          *place = state->next;
          state->next = idle;
          idle = state;
        }
      }
    }
    while (idle) delete std::exchange(idle, idle->next);
  }

  std::mutex lock;
  /// The suspended hooks.
  std::unordered_map<crb_call, std::shared_ptr<Gate>> gates;
  State *released = nullptr;
};

/// The first members of every instance.
struct Held {
  explicit Held(std::shared_ptr<Core> its_core) noexcept : core(std::move(its_core)) {}
  const std::shared_ptr<Core> core;
};

inline Core *core_of(void *inst) noexcept { return static_cast<Held *>(inst)->core.get(); }

/// The context of a hook: the instance's core, the call, and the state word.
struct Place {
  Core *core;
  crb_call call;
  State *state;
  /// The address of the state word; only in the first hook of a stage.
  void **slot;
};

/// A call, with the functions that any thread may use.
class Watched {
 public:
  explicit Watched(const Place &place) noexcept : place_(place) {}
  Watched(const Watched &) = delete;
  Watched &operator=(const Watched &) = delete;

  crb_call handle() const noexcept { return place_.call; }
  /// 0 for the first try.
  uint32_t attempt() const noexcept { return table->attempt(place_.call); }
  /// A number shared by all stages of one call.
  uint64_t request_id() const noexcept { return table->request_id(place_.call); }
  /// CRB_OPERATION_*
  uint32_t operation_type() const noexcept { return table->operation_type(place_.call); }
  /// Also true when the call is over.
  bool is_cancelled() const noexcept { return table->cancelled(place_.call) != 0; }
  /// The deadline of the call on the host's clock, in nanoseconds; UINT64_MAX: none.
  uint64_t deadline_ns() const noexcept { return table->deadline_ns(place_.call); }
  const Host &host() const noexcept { return place_.core->host; }
  void log(Level level, std::string_view line) const noexcept { host().log(level, line, place_.call); }

  /// This stage's object for this call; NULL if none was made or the call is over. In on_cancel, another hook can be using it.
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
