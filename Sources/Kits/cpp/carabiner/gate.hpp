// Decides what finishes a suspended hook: its work or the cancellation of the call, whichever comes first.
#ifndef CARABINER_GATE_HPP
#define CARABINER_GATE_HPP

#include "watched.hpp"

namespace crb {
namespace detail {

inline crb_verdict fail(crb_call call, crb_error error, const char *message) noexcept {
  error.size = sizeof error;
  error.message = view(message);
  table->set_error(call, &error);
  return CRB_FAIL;
}

inline crb_verdict fail(crb_call call, const char *message, uint32_t flags = 0) noexcept {
  crb_error error{};
  error.flags = flags;
  return fail(call, error, message);
}

inline crb_verdict fail(crb_call call, const Failure &failure) noexcept {
  crb_error error{};
  error.code = failure.code;
  error.flags = failure.flags;
  error.http_status = failure.http_status;
  if (!failure.detail_json.empty()) error.detail_json = view(failure.detail_json);
  if (failure.retry_after.count() > 0) error.retry_after_ns = static_cast<uint64_t>(failure.retry_after.count());
  return fail(call, error, failure.what());
}

/// A suspended hook. It also delays the result until the hook has returned, because the views of the hook are valid until then.
class Gate {
 public:
  Gate(Core *core, crb_call call) noexcept : core_(core), call_(call) {}

  void arm(crb_token token) noexcept { token_ = token; }

  /// Whether the work may run. If true, the work finishes the hook.
  bool enter() noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    if (work_ != Work::Awaited) return false;
    work_ = Work::Running;
    return true;
  }
  void finish(crb_verdict verdict) noexcept { close(verdict, Work::Running); }
  /// The call was cancelled: finishes the hook unless its work is running. Running work ends by itself.
  void cancel() noexcept { close(cancelled, Work::Awaited); }
  /// The hook has returned. With a verdict other than PENDING the hook failed, and the work is too late.
  void hook_returned(crb_verdict verdict) noexcept {
    {
      // A verdict that arrives before the hook has returned is applied here.
      const std::lock_guard<std::mutex> guard(lock_);
      has_returned_ = true;
      if (verdict == CRB_PENDING && !is_kept_) return;
      if (verdict == CRB_PENDING) verdict = verdict_;
      work_ = Work::Over;
    }
    resume(verdict);
  }

 private:
  enum class Work { Awaited, Running, Over };
  static constexpr crb_verdict cancelled = -1;

  /// Resumes the hook, or stores the verdict until the hook has returned.
  void close(crb_verdict verdict, Work expected) noexcept {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      if (work_ != expected) return;
      work_ = Work::Over;
      verdict_ = verdict;
      is_kept_ = !has_returned_;
      if (is_kept_) return;
    }
    resume(verdict);
  }

  void resume(crb_verdict verdict) noexcept {
    if (verdict == cancelled) verdict = fail(call_, "the call was cancelled", CRB_ERROR_CANCELLED);
    // Before resume: a resumed call may be suspended again at once.
    core_->forget(call_);
    table->resume(token_, verdict);
  }

  Core *const core_;
  const crb_call call_;
  crb_token token_ = 0;
  std::mutex lock_;
  Work work_ = Work::Awaited;
  bool has_returned_ = false;
  /// Whether `verdict_` is stored until the hook returns.
  bool is_kept_ = false;
  crb_verdict verdict_ = CRB_FAIL;
};

inline void Core::close() noexcept {
  std::unordered_map<crb_call, std::shared_ptr<Gate>> open;
  {
    const std::lock_guard<std::mutex> guard(lock);
    open.swap(gates);
  }
  for (const auto &each : open) each.second->cancel();
  tasks().close();
  sweep();
}

inline void Core::cancel(crb_call call) noexcept {
  std::shared_ptr<Gate> gate;
  {
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = gates.find(call);
    if (found != gates.end()) gate = found->second;
  }
  if (gate) gate->cancel();
}

}  // namespace detail
}  // namespace crb

#endif
