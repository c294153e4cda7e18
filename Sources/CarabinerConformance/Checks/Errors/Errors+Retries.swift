internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let repeatedAttempts = Check(
    "ER03", level: 3, "survives being started again",
    page: Page(
      rule: #"""
        A stage that asks for RETRY, or stands in a chain where another one does, gets on_request again with its own state, up to the host's maximum, and is sane at each attempt.
        """#,
      reason: #"""
        The state survives a retry. A stage that makes a new one at each attempt loses the old one.
        """#,
      example: #"""
        static crb_verdict on_request(void *inst, crb_call call, void **state) { *state = malloc(sizeof(attempt)); … }
        """#,
      remedy: "if (!*state) *state = calloc(1, sizeof(attempt));"),
    .interceptor { trial in
      var manner = Traveller.Manner()
      manner.forcedRetries = 3
      try trial.exercise(Exchange.usual, manner)
    })
}

extension Check {
  static let refusedRetry = Check(
    "ER04", level: 3, "goes on when a retry is refused",
    page: Page(
      rule: #"""
        RETRY after a result went outward is refused by the host; the stage then ends as after any other failure.
        """#,
      reason: "A consumer that has seen results must not see them again.",
      example: "while (host->set_retry(call, CRB_RETRY_CHAIN, 0) != CRB_OK) { }",
      remedy: "Ask once, and let the verdict decide."),
    .interceptor { trial in
      try trial.exercise([
        Exchange("an error after two results") {
          $0.results = [ResultSample(flags: UInt32(CRB_RESULT_HAS_NEXT)), ResultSample(flags: UInt32(CRB_RESULT_HAS_NEXT))]
          $0.ending = .error(ErrorSample())
        },
        Exchange("an error after chunks") { $0.ending = .error(ErrorSample(httpStatus: 401)) },
        Exchange("a result with UNAUTHENTICATED after one without") {
          $0.results = [
            ResultSample(), ResultSample(data: nil, errors: #"[{"message":"who?","extensions":{"code":"UNAUTHENTICATED"}}]"#),
          ]
        },
      ])
    })
}

extension Check {
  static let retryDelay = Check(
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
