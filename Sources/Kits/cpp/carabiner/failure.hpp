// Verdicts and errors.
#ifndef CARABINER_FAILURE_HPP
#define CARABINER_FAILURE_HPP

#include <carabiner.h>

#include <stdexcept>
#include <string>

namespace crb {

/// What a hook answers. To fail, throw; to wait, return what later(), after(), fetch(), load() ... gave.
enum class Verdict : crb_verdict {
  Continue = CRB_CONTINUE,
  Respond = CRB_RESPOND,
  Drop = CRB_DROP,
  Finish = CRB_FINISH,
  Retry = CRB_RETRY,
  Recover = CRB_RECOVER
};

/// Why a hook fails, or what the host refused.
class Failure : public std::runtime_error {
 public:
  /// `code` is yours to define; `flags` are CRB_ERROR_*.
  explicit Failure(const std::string &message, int32_t code = 0, uint32_t flags = 0)
      : std::runtime_error(message), code(code), flags(flags) {}

  int32_t code;
  uint32_t flags;
};

/// What a status means.
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
