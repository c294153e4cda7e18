// Host timers that fire once or repeatedly.
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

/// A task that waits for a timer. The lock of all tasks guards its changing members.
class TimerTask : public Task {
 public:
  TimerTask(const crb_timer_service &service, crb_self who, std::shared_ptr<Tasks> tasks) noexcept
      : tasks_(std::move(tasks)), service_(service), who_(who) {}

  /// True if the code will not run. False for a repeating timer that is running; it will not run again.
  bool cancel() noexcept {
    tasks_->alone([this] { is_cancelled_ = true; });
    return tasks_->end_early(*this);
  }

  bool take_back() noexcept override {
    const crb_timer handle = tasks_->alone([this] { return std::exchange(handle_, 0); });
    return handle && service_.cancel(handle) == CRB_OK;
  }

 protected:
  /// Arms the timer, which lends the task to the host. False if it may not be armed.
  bool arm(uint64_t delay_ns, void (*fire)(void *)) noexcept {
    const unsigned turn = tasks_->alone([this] {
      handle_ = 0;
      return ++turn_;
    });
    // Not under the lock: the timer can fire before the host returns.
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
  /// Counts how often the timer was armed, so that a late handle is not mistaken for a newer one.
  unsigned turn_ = 0;
};

/// A timer with its code. `contain(work)` runs the code and catches its exceptions.
template <class Work, class Contain>
class TimerOf final : public TimerTask {
 public:
  /// With an interval of 0, the code runs once.
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

  /// Arms the timer for the next due time that has not passed.
  bool arm_again() noexcept {
    const uint64_t now = service_.now_ns();
    due_ += interval_;
    if (due_ <= now) due_ = now + interval_;
    if (!TimerTask::arm(due_ - now, fire)) return false;
    // Cancelled while it was being armed: `cancel()` has then returned false.
    return !is_cancelled() || !take_back();
  }

  const uint64_t interval_;
  uint64_t due_ = 0;
  std::optional<Work> work_;
  const Contain contain_;
};

}  // namespace detail

/// An armed timer. Copy it freely. Destroying it does not disarm the timer; the end of the instance does.
class Timer {
 public:
  explicit Timer(std::shared_ptr<detail::TimerTask> task) noexcept : task_(std::move(task)) {}

  /// True if the work will not run, or not again. False if it ran, is running or was cancelled before. A repeating timer that is
  /// running does not run again.
  bool cancel() noexcept { return task_->cancel(); }

 private:
  std::shared_ptr<detail::TimerTask> task_;
};

}  // namespace crb

#endif
