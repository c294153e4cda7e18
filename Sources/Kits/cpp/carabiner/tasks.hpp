// The plugin's code that runs outside of hooks: what it is, and how it ends before its instance does.
#ifndef CARABINER_TASKS_HPP
#define CARABINER_TASKS_HPP

#include <condition_variable>
#include <memory>
#include <mutex>

namespace crb {
namespace detail {

/// A piece of the plugin's code that a timer, a request or the store of the host will run.
class Task {
 public:
  Task() = default;
  Task(const Task &) = delete;
  Task &operator=(const Task &) = delete;
  virtual ~Task() = default;

  /// Destroys the plugin's code, with all it holds.
  virtual void drop() noexcept = 0;
  /// Takes the pointer to this task back from the host, without the lock of all tasks; false if the host will use it, or has.
  virtual bool take_back() noexcept { return false; }

 private:
  friend class Tasks;
  /// The reference of the host, which has a pointer to the task.
  std::shared_ptr<Task> lent_;
  Task *previous_ = nullptr;
  Task *next_ = nullptr;
  bool is_waiting_ = false;
};

/// The tasks of one instance. None runs, and none holds anything of the plugin's, once `close()` has returned.
class Tasks {
 public:
  /// Lends a task to the host; false once the instance is being destroyed.
  bool lend(const std::shared_ptr<Task> &task) noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (is_closed_) return false;
    task->lent_ = task;
    link(*task);
    return true;
  }
  /// The host did not take the task, or gave it back.
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
      // Otherwise `close()` has it, and drops it.
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
  /// Runs a task again and again: `may()`, under the lock, allows another run, and `arm()`, without it, lends the task to the host.
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
      // Otherwise `close()` has it, and drops it.
      is_ours = task->is_waiting_;
      unlink(*task);
    }
    if (is_ours) task->drop();
    leave();
  }
  /// Something that any thread asks for while no task changes.
  template <class Body>
  auto alone(Body body) {
    const std::lock_guard<std::mutex> guard(lock_);
    return body();
  }

  /// Whether work of the plugin's own threads may run; if so, `leave()` must follow.
  bool enter() noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (!is_closed_) running_++;
    return !is_closed_;
  }
  void leave() noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    end();
  }

  /// Drops the tasks that wait, and waits for those that run. Nothing runs from here on.
  void close() noexcept {
    std::unique_lock<std::mutex> guard(lock_);
    is_closed_ = true;
    while (first_) {
      // The host may use its pointer meanwhile: it finds that the task does not wait.
      std::shared_ptr<Task> task = first_->lent_;
      unlink(*task);
      guard.unlock();
      // No function of the host is called under the lock: a timer that fires meanwhile needs it.
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
  /// Those that wait.
  Task *first_ = nullptr;
  size_t running_ = 0;
  bool is_closed_ = false;
};

}  // namespace detail
}  // namespace crb

#endif
