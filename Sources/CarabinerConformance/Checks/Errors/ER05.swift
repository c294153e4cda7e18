internal import CarabinerHost

extension Check {
  static let er05 = Check(
    "ER05", level: 4, "waits as long as the server asks",
    page: Page(
      rule: #"""
        A RETRY after an error with retry_after_ns waits at least so long; a shorter delay is a warning.
        """#,
      reason: "A server that is overloaded says when to come back. Who comes earlier keeps it down.",
      example: "host->set_retry(call, CRB_RETRY_STAGE, 0);  return CRB_RETRY;",
      remedy: #"""
        host->set_retry(call, CRB_RETRY_STAGE, error->retry_after_ns > mine ? error->retry_after_ns : mine);
        """#),
    .interceptor { trial in
      let wait: UInt64 = 5_000_000_000
      let exchange = Exchange("an error with retry-after") {
        $0.results = []
        $0.chunks = []
        $0.ending = .error(ErrorSample(code: 429, httpStatus: 429, retryAfter: wait))
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        for step in trial.travel([exchange], stage, instance)[0].steps(of: .onError) where step.verdict == Verdict.retry {
          let delay = step.staged.retry?.delay ?? 0
          if delay < wait {
            trial.notes.warn(
              "it comes back after \(delay / 1_000_000) ms although the server asked for \(wait / 1_000_000)",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue).on_error")
          }
        }
      }
    })
}
