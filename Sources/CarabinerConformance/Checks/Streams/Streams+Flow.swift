internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let fullWindow = Check(
    "ST04", level: 5, "stops staging when the window is full",
    page: Page(
      rule: "A hook that stages many elements stops at CRB_E_LIMIT, and stages the rest in its next hooks.",
      reason: """
        Without back-pressure a small response that expands into many results exhausts the memory of the host.
        """,
      example: "while (next(&element)) host->emit(call, CRB_EMIT_RESULT, element, 0);",
      remedy: #"""
        while (next(&element)) if (host->emit(call, CRB_EMIT_RESULT, element, 0) != CRB_OK) { hold(element); break; }
        """#),
    .interceptor { trial in
      let many = String(repeating: #"{"data":{"a":1}}"# + "\n", count: 4096)
      try trial.exercise(
        Exchange.usual + [
          Exchange("a body with thousands of results") { $0.chunks = [Array(many.utf8)] },
          Exchange("a list of thousands") {
            $0.results = [ResultSample(data: "{\"list\":[\(String(repeating: "1,", count: 4096))1]}")]
          },
        ])
    })
}

extension Check {
  static let endlessSubscription = Check(
    "ST05", level: 6, "handles an endless subscription in constant memory",
    page: Page(
      rule: "A subscription with 200,000 results takes no more memory than one with 2,000.",
      reason: "Subscriptions live for days. Memory that is kept for each result is never released.",
      example: "state->seen = append(state->seen, result->seq);",
      remedy: "Keep only the last result, or a counter."),
    timeLimit: .seconds(180),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL || stage.kind == .http {
        func run(_ count: Int) {
          var exchange = Exchange("\(count) results of one subscription")
          exchange.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
          exchange.chunks = [[UInt8(ascii: " ")]]
          let endless = EndlessTrial(trial, stage, instance)
          endless.run(exchange, count: count)
        }
        run(2000)
        let before = ProcessState.now.memory
        let count = trial.options.times(200_000, atLeast: 20_000)
        run(count)
        let growth = ProcessState.now.memory - before
        trial.notes.expect(
          growth < 4 << 20, "a subscription of \(count) results took \(growth >> 10) KiB",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    })
}

extension Check {
  static let earlyStop = Check(
    "ST06", level: 3, "ends cleanly when the consumer stops early",
    page: Page(
      rule: "A call that is cancelled between two results ends with on_cancel and release, and leaks nothing.",
      reason: "This is the usual end of a subscription: a user closes the page.",
      example: "static void on_cancel(…) { free(state); }        /* and release() frees it again */",
      remedy: "Wake waiting threads in on_cancel, and free the state in release()."),
    .interceptor { trial in
      try trial.exercise(
        (0..<8).map { count in
          Exchange("a subscription that is left after \(count) results") {
            $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
            $0.results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
            $0.chunks = (0..<count).map { _ in Array("{}".utf8) }
            $0.ending = .cancel
          }
        })
      try staysUseful(trial)
    })

  /// Cancels and fails many calls, and compares how the stage answers before and after.
  private static func staysUseful(_ trial: InterceptorTrial) throws {
    trial.testHost.state.withLock { $0.isGuarded = false }
    let deadline = ContinuousClock.now + .seconds(20)
    for stage in trial.stages {
      for name in ["cancelled", "failed", "sent three times", "sent again by another stage", "cancelled in its first hook"] {
        let instance = try trial.instance()
        defer { instance.destroy() }
        func answer() -> crb_verdict { trial.travel([Exchange("a query")], stage, instance)[0].verdict }
        guard answer() != Verdict.fail, answer() != Verdict.fail else { continue }
        var exchange = Exchange("a query that is \(name)")
        exchange.results = []
        exchange.chunks = []
        // A client error, because a circuit breaker does not count those.
        let failure = ErrorSample(code: 404, httpStatus: 404, message: "the server answered with status 404")
        let isFailed = name == "failed" || name == "sent three times"
        if isFailed { exchange.head.status = 404 }
        exchange.ending = isFailed ? .error(failure) : .cancel
        var settings = ExchangeRunner.Settings()
        if name == "sent three times" { settings.forcedRetries = 2 }
        if name == "sent again by another stage" {
          settings.earlierAttempts = [exchange.hidden, exchange.hidden]
          exchange.ending = .end
        }
        if name == "cancelled in its first hook" {
          settings.cancelsDuring = stage.kind == .cache ? .onRead : stage.kind == .parsing ? .onHead : .onRequest
        }
        var calls = 0
        while calls < trial.options.times(1500, atLeast: 150), ContinuousClock.now < deadline {
          _ = trial.travel([exchange], stage, instance, settings)
          calls += 1
        }
        trial.notes.expect(
          answer() != Verdict.fail,
          "after \(calls) calls that were \(name) it fails a query that it answered before: it does not give back their places",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    }
  }
}
