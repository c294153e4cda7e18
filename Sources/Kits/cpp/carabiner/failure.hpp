// Verdicts and errors.
#ifndef CARABINER_FAILURE_HPP
#define CARABINER_FAILURE_HPP

#include <carabiner.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace crb {

/// The return value of a hook. To fail, throw. To wait, return the value of later(), after(), fetch() or load().
enum class Verdict : crb_verdict {
  Continue = CRB_CONTINUE,
  Respond = CRB_RESPOND,
  Drop = CRB_DROP,
  Finish = CRB_FINISH,
  Retry = CRB_RETRY,
  Recover = CRB_RECOVER
};

/// The reason why a hook fails or the host refused a call.
class Failure : public std::runtime_error {
 public:
  /// `its_code` is defined by the plugin; `its_flags` are CRB_ERROR_*.
  explicit Failure(const std::string &message, int32_t its_code = 0, uint32_t its_flags = 0)
      : std::runtime_error(message), code(its_code), flags(its_flags) {}

  /// A copy with an HTTP status, 400 to 599, for the gateway's client: `throw Failure("slower").with_status(429);`
  Failure with_status(int32_t status) const {
    Failure failure(*this);
    failure.http_status = status;
    return failure;
  }
  /// A copy with the delay after which the gateway's client may retry.
  Failure with_retry_after(std::chrono::nanoseconds delay) const {
    Failure failure(*this);
    failure.retry_after = delay;
    return failure;
  }

  /// A copy with flags, CRB_ERROR_*: `throw Failure("asleep").with_flags(CRB_ERROR_RETRYABLE);`
  Failure with_flags(uint32_t new_flags) const {
    Failure failure(*this);
    failure.flags = new_flags;
    return failure;
  }
  /// A copy with details for programs, as JSON text.
  Failure with_detail(std::string json) const {
    Failure failure(*this);
    failure.detail_json = std::move(json);
    return failure;
  }

  int32_t code;
  uint32_t flags;
  /// Empty if there is none.
  std::string detail_json = {};
  /// 0: the gateway chooses the status.
  int32_t http_status = 0;
  /// Zero if unknown.
  std::chrono::nanoseconds retry_after{0};
};

/// Describes a status.
inline const char *meaning(crb_status status) noexcept {
  switch (status) {
    case CRB_OK: return "no error";
    case CRB_E_INVAL: return "an argument is malformed";
    case CRB_E_NOMEM: return "memory or quota is exhausted";
    case CRB_E_UNSUPPORTED: return "this host does not do that";
    case CRB_E_STALE: return "the call is over";
    case CRB_E_STATE: return "not in this hook, or not declared as needed";
    case CRB_E_LIMIT: return "a limit of the host was reached";
    case CRB_E_THREAD: return "another thread is at work on this call";
    case CRB_E_NOTFOUND: return "there is none";
    case CRB_E_READONLY: return "not declared as changed";
    default: return "the host is at fault";
  }
}

namespace detail {

[[noreturn]] inline void refuse(crb_status status, const char *what) {
  throw Failure(std::string("the host refuses ") + what + ": " + meaning(status) + " (status " + std::to_string(status) + ")",
                status);
}

inline void check(crb_status status, const char *what) {
  if (status != CRB_OK) refuse(status, what);
}

}  // namespace detail
}  // namespace crb

#endif
