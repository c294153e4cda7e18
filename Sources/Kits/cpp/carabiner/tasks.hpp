// The plugin's code that runs outside of hooks. All of it ends before its instance does.
#ifndef CARABINER_TASKS_HPP
#define CARABINER_TASKS_HPP

#include <condition_variable>
#include <memory>
#include <mutex>

namespace crb {
namespace detail {

/// Code of the plugin that a host timer, request or store operation will run.
class Task {
 public:
  Task() = default;
  Task(const Task &) = delete;
  Task &operator=(const Task &) = delete;
  virtual ~Task() = default;

  /// Destroys the plugin's code and everything it holds.
  virtual void drop() noexcept = 0;
  /// Takes the pointer to this task back from the host, without the lock of all tasks. False if the host will use the pointer or
  /// has used it.
  virtual bool take_back() noexcept { return false; }

 private:
  friend class Tasks;
  /// The host's reference to the task; the host itself has only a pointer.
  std::shared_ptr<Task> lent_;
  Task *previous_ = nullptr;
  Task *next_ = nullptr;
  bool is_waiting_ = false;
};

/// The tasks of one instance. After `close()` has returned, none runs and none holds objects of the plugin.
class Tasks {
 public:
  /// Lends a task to the host. False once the instance is being destroyed.
  bool lend(const std::shared_ptr<Task> &task) noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (is_closed_) return false;
    task->lent_ = task;
    link(*task);
    return true;
  }
  /// Removes a task that the host did not accept or has given back.
  void retract(Task &task) noexcept {
    std::shared_ptr<Task> lent;
    const std::lock_guard<std::mutex> guard(lock_);
    lent = std::move(task.lent_);
    unlink(task);
  }
  /// Ends a task if the host gives its pointer back.
  bool end_early(Task &task) noexcept {
    if (!task.take_back()) return false;
    std::shared_ptr<Task> lent;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      lent = std::move(task.lent_);
      // Otherwise `close()` has taken the task and drops it.
      if (!task.is_waiting_) return true;
      unlink(task);
    }
    lent->drop();
    return true;
  }
  /// Runs a task that the host will not use again.
  template <class Body>
  void run(Task *user, Body body) noexcept {
    std::shared_ptr<Task> task;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      task = std::move(user->lent_);
      if (!begin(*task)) return;
    }
    body();
    task->drop();
    leave();
  }
  /// Runs a task repeatedly. `may()` is called under the lock and allows another run; `arm()` is called without it and lends the
  /// task to the host.
  template <class Body, class May, class Arm>
  void run_repeatedly(Task *user, Body body, May may, Arm arm) noexcept {
    std::shared_ptr<Task> task;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      task = std::move(user->lent_);
      if (!begin(*task)) return;
    }
    body();
    bool is_ours = true;
    if (lend_again(task, may)) {
      if (arm()) return leave();
      const std::lock_guard<std::mutex> guard(lock_);
      task->lent_ = nullptr;
      // Otherwise `close()` has taken the task and drops it.
      is_ours = task->is_waiting_;
      unlink(*task);
    }
    if (is_ours) task->drop();
    leave();
  }
  /// Runs `body()` under the lock, while no task changes.
  template <class Body>
  auto alone(Body body) {
    const std::lock_guard<std::mutex> guard(lock_);
    return body();
  }

  /// Whether work on the plugin's own threads may run. If true, `leave()` must follow.
  bool enter() noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (!is_closed_) running_++;
    return !is_closed_;
  }
  void leave() noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    end();
  }

  /// Drops waiting tasks and waits for running ones. Nothing runs after it.
  void close() noexcept {
    std::unique_lock<std::mutex> guard(lock_);
    is_closed_ = true;
    while (first_) {
      // The host may use its pointer meanwhile. It finds that the task is no longer waiting.
      std::shared_ptr<Task> task = first_->lent_;
      unlink(*task);
      guard.unlock();
      // No host function is called under the lock, because a timer that fires meanwhile needs the lock.
      if (task->take_back()) {
        guard.lock();
        task->lent_ = nullptr;
        guard.unlock();
      }
      task->drop();
      task = nullptr;
      guard.lock();
    }
    idle_.wait(guard, [this] { return running_ == 0; });
  }

 private:
  template <class May>
  bool lend_again(const std::shared_ptr<Task> &task, May may) noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (is_closed_ || !may()) return false;
    task->lent_ = task;
    link(*task);
    return true;
  }
  bool begin(Task &task) noexcept {
    if (!task.is_waiting_) return false;
    unlink(task);
    running_++;
    return true;
  }
  void end() noexcept {
    if (--running_ == 0) idle_.notify_all();
  }
  void link(Task &task) noexcept {
    task.is_waiting_ = true;
    task.previous_ = nullptr;
    task.next_ = first_;
    if (first_) first_->previous_ = &task;
    first_ = &task;
  }
  void unlink(Task &task) noexcept {
    if (!task.is_waiting_) return;
    task.is_waiting_ = false;
    if (task.previous_) task.previous_->next_ = task.next_;
    if (task.next_) task.next_->previous_ = task.previous_;
    if (first_ == &task) first_ = task.next_;
  }

  std::mutex lock_;
  std::condition_variable idle_;
  /// The list of waiting tasks.
  Task *first_ = nullptr;
  size_t running_ = 0;
  bool is_closed_ = false;
};

}  // namespace detail
}  // namespace crb

#endif
