internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let repeatedAttempts = Check(
    "ER03", level: 3, "survives retries",
    page: Page(
      rule: """
        A stage that asks for RETRY, or is in a chain with a stage that does, gets on_request again with its own state, up to the
        host's maximum. It works at each attempt, and leaves a field of a header as often as with one attempt. It asks for a few
        attempts only; more than twenty are a warning.
        """,
      reason: "The state survives a retry. A stage that allocates a new state at each attempt leaks the old one.",
      example: #"""
        static crb_verdict on_request(void *inst, crb_call call, void **state) { *state = malloc(sizeof(attempt)); … }
        """#,
      remedy: "if (!*state) *state = calloc(1, sizeof(attempt));"),
    .interceptor { trial in
      var settings = ExchangeRunner.Settings()
      settings.forcedRetries = 3
      try trial.exercise(Exchange.usual, settings)
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        var settings = ExchangeRunner.Settings()
        settings.maximumRetries = 21
        for passage in trial.travel(Exchange.usual, stage, instance, settings) where passage.attempts.count > 20 {
          trial.notes.warn(
            "it asks for another attempt after twenty; count them in the state, where on_request does not set them back",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      for stage in trial.stages where stage.mutates.contains(.headers) {
        func names(_ settings: ExchangeRunner.Settings) -> [String: Int] {
          let passage = trial.travel([Exchange("a query")], stage, instance, settings)[0]
          let fields = stage.kind == .graphQL ? passage.operation.headers : passage.request.headers
          return Dictionary(fields.map { ($0.name.lowercased(), 1) }, uniquingKeysWith: +)
        }
        let (once, again) = (names(ExchangeRunner.Settings()), names(settings))
        for (name, count) in again.sorted(by: { $0.key < $1.key }) where count > max(once[name] ?? 0, 1) {
          trial.notes.fail(
            "after three retries there are \(count) fields \(name), and \(once[name] ?? 0) without a retry",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}

extension Check {
  static let refusedRetry = Check(
    "ER04", level: 3, "continues after a refused retry",
    page: Page(
      rule: """
        After a result was delivered, the host refuses RETRY. The stage then ends as after any other failure.
        """,
      reason: "A consumer must not get results twice.",
      example: "while (host->set_retry(call, CRB_RETRY_CHAIN, 0) != CRB_OK) { }",
      remedy: "Call set_retry() once, and answer by its status."),
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
    "ER05", level: 4, "respects the delay that the server asks for",
    page: Page(
      rule: "A RETRY after an error with retry_after_ns waits at least that long. A shorter delay is a warning.",
      reason: "An overloaded server states when to retry. An earlier retry prolongs the overload.",
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
              "it retries after \(delay / 1_000_000) ms, but the server asked for \(wait / 1_000_000) ms",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue).on_error")
          }
        }
      }
    })
}
