// Timers of the host, once and again.
#ifndef CARABINER_TIMER_HPP
#define CARABINER_TIMER_HPP

#include <carabiner.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "tasks.hpp"

namespace crb {
namespace detail {

/// A task that waits for its time. The lock of all tasks guards its changing members.
class TimerTask : public Task {
 public:
  TimerTask(const crb_timer_service &service, crb_self who, std::shared_ptr<Tasks> tasks) noexcept
      : tasks_(std::move(tasks)), service_(service), who_(who) {}

  /// True if the code will not run; of a repeating timer that runs just now, false, and it will not run again.
  bool cancel() noexcept {
    tasks_->alone([this] { is_cancelled_ = true; });
    return tasks_->end_early(*this);
  }

  bool take_back() noexcept override {
    const crb_timer handle = tasks_->alone([this] { return std::exchange(handle_, 0); });
    return handle && service_.cancel(handle) == CRB_OK;
  }

 protected:
  /// Arms the timer, and so lends the task to the host; false if it may not.
  bool arm(uint64_t delay_ns, void (*fire)(void *)) noexcept {
    const unsigned turn = tasks_->alone([this] {
      handle_ = 0;
      return ++turn_;
    });
    // Without the lock: the timer may fire before the host returns.
    const crb_timer handle = service_.arm(who_, delay_ns, fire, this);
    if (!handle) return false;
    tasks_->alone([&] {
      if (turn_ == turn) handle_ = handle;
    });
    return true;
  }

  bool is_cancelled() const noexcept {
    return tasks_->alone([this] { return is_cancelled_; });
  }

  const std::shared_ptr<Tasks> tasks_;
  const crb_timer_service &service_;
  bool is_cancelled_ = false;

 private:
  const crb_self who_;
  crb_timer handle_ = 0;
  /// Counts how often it was armed: a handle that comes late is not taken for a newer one.
  unsigned turn_ = 0;
};

/// A timer with its code. `contain(work)` keeps what it throws inside.
template <class Work, class Contain>
class TimerOf final : public TimerTask {
 public:
  /// An interval of 0 is none: the code runs once.
  TimerOf(
      const crb_timer_service &service, crb_self who, std::shared_ptr<Tasks> tasks, std::chrono::nanoseconds interval, Work work,
      const Contain &contain)
      : TimerTask(service, who, std::move(tasks)), interval_(static_cast<uint64_t>(interval.count())), work_(std::move(work)),
        contain_(contain) {}

  bool arm(std::chrono::nanoseconds delay) noexcept {
    const uint64_t ns = delay.count() > 0 ? static_cast<uint64_t>(delay.count()) : 0;
    due_ = service_.now_ns() + ns;
    return TimerTask::arm(ns, fire);
  }

  void drop() noexcept override { work_.reset(); }

 private:
  static void fire(void *user) noexcept {
    auto *timer = static_cast<TimerOf *>(user);
    const auto tasks = timer->tasks_;
    const auto body = [timer] { timer->contain_(*timer->work_); };
    if (timer->interval_ == 0) return tasks->run(timer, body);
    tasks->run_repeatedly(
        timer,
        [timer, body] {
          if (!timer->is_cancelled()) body();
        },
        [timer] { return !timer->is_cancelled_; }, [timer] { return timer->arm_again(); });
  }

  /// For the next time that is not over yet.
  bool arm_again() noexcept {
    const uint64_t now = service_.now_ns();
    due_ += interval_;
    if (due_ <= now) due_ = now + interval_;
    if (!TimerTask::arm(due_ - now, fire)) return false;
    // Cancelled while it was armed: then the caller was told that it runs just now.
    return !is_cancelled() || !take_back();
  }

  const uint64_t interval_;
  uint64_t due_ = 0;
  std::optional<Work> work_;
  const Contain contain_;
};

}  // namespace detail

/// An armed timer: a value to copy. Letting go of it does not disarm it; the end of the instance does.
class Timer {
 public:
  explicit Timer(std::shared_ptr<detail::TimerTask> task) noexcept : task_(std::move(task)) {}

  /// True if the work will not run, or not again; false if it ran, runs just now or was cancelled before. A repeating timer that runs
  /// just now does not run again.
  bool cancel() noexcept { return task_->cancel(); }

 private:
  std::shared_ptr<detail::TimerTask> task_;
};

}  // namespace crb

#endif
