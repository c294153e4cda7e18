internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let repeatedAttempts = Check(
    "ER03", level: 3, "survives retries",
    page: Page(
      rule: """
        A stage that asks for RETRY, or is in a chain with a stage that does, gets on_request again with its own state, up to the
        host's maximum. It works at each attempt, and leaves a field of a header and a member of the variables and extensions as often
        as with one attempt. Nothing of an attempt that failed is in the body, the results or the fields of the next one, and its bytes
        do not count for a limit. It asks for a few attempts
        only; more than twenty are a warning.
        """,
      reason: "The state survives a retry. A stage that allocates a new state at each attempt leaks the old one.",
      example: #"""
        static crb_verdict on_request(void *inst, crb_call call, void **state) { *state = malloc(sizeof(attempt)); … }
        """#,
      remedy: "if (!*state) *state = calloc(1, sizeof(attempt));  (*state)->kept = 0;"),
    timeLimit: .seconds(120),
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
      try separatesAttempts(trial)
      try readsEachBody(trial)
      for stage in trial.stages where !stage.mutates.isDisjoint(with: [.variables, .extensions]) {
        let operation = trial.travel([Exchange.unavailable], stage, instance, settings)[0].operation
        for (name, text) in [("variables", operation.variables), ("extensions", operation.extensions)] {
          let members = text.flatMap { try? JSONMembers(locating: Array($0.utf8).span) }
          trial.notes.expect(
            members?.duplicates ?? 0 == 0, "after three retries its \(name) have the same member twice",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      for stage in trial.stages where stage.mutates.contains(.headers) {
        func names(_ settings: ExchangeRunner.Settings) -> [String: Int] {
          let passage = trial.travel([Exchange.unavailable], stage, instance, settings)[0]
          let fields = stage.kind == .graphQL ? passage.operation.headers : passage.request.headers
          return Dictionary(fields.map { ($0.name.lowercased(), 1) }, uniquingKeysWith: +)
        }
        let (once, again) = (names(ExchangeRunner.Settings()), names(settings))
        for name in once.keys.sorted() where again[name] == nil {
          trial.notes.fail(
            "after three retries the field \(name) is missing: each attempt has a new request",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
        for (name, count) in again.sorted(by: { $0.key < $1.key }) where count > max(once[name] ?? 0, 1) {
          trial.notes.fail(
            "after three retries there are \(count) fields \(name), and \(once[name] ?? 0) without a retry",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}

extension Check {
  /// Compares the output of a stage after a broken attempt with its output without one.
  private static func separatesAttempts(_ trial: InterceptorTrial) throws {
    guard !trial.options.capabilities.contains("varies") else { return }
    for stage in trial.stages where stage.kind != .cache {
      for (earlier, exchange) in brokenAttempts(trial, stage) {
        func output(_ earlier: [Exchange]) throws -> [[UInt8]]? {
          let instance = try trial.instance()
          defer { instance.destroy() }
          var settings = ExchangeRunner.Settings()
          settings.earlierAttempts = earlier
          settings.maximumRetries = UInt32(earlier.count)
          let whole = trial.travel([exchange], stage, instance, settings)[0]
          // The stage has forwarded something of the broken attempt, so no further attempt follows.
          guard whole.attempts.count > earlier.count else { return nil }
          let passage = whole.lastAttempt
          return stage.kind == .http ? [passage.body(of: exchange) ?? []] : passage.elements.map(\.bytes)
        }
        let (first, again, later) = (try output([]), try output([]), try output([earlier]))
        guard first == again, let later else { continue }
        trial.notes.expect(
          later == first, "after an attempt that broke off, \(exchange.name) leaves the stage changed",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    }
  }

  /// Compares the header fields of a request with those after an earlier attempt with another body, such as only a hash.
  private static func readsEachBody(_ trial: InterceptorTrial) throws {
    guard !trial.options.capabilities.contains("varies") else { return }
    func request(_ body: String) -> Exchange {
      Exchange("a request with the body \(body.prefix(24))") { $0.request.body = Array(body.utf8) }
    }
    let hash = request(#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}"#)
    let text = request(#"{"query":"query Books { books { id } }","operationName":"Books"}"#)
    for stage in trial.stages where stage.kind == .http && stage.mutates.contains(.headers) {
      func fields(_ earlier: [Exchange], _ exchange: Exchange) throws -> [String] {
        let instance = try trial.instance()
        defer { instance.destroy() }
        var settings = ExchangeRunner.Settings()
        settings.earlierAttempts = earlier
        return (trial.travel([exchange], stage, instance, settings)[0].attempts.last ?? []).map { "\($0.name): \($0.value)" }
      }
      let (usual, again, other) = (try fields([], text), try fields([], text), try fields([], hash))
      guard usual == again, usual != other else { continue }
      let stale = Set(other).subtracting(usual)
      trial.notes.expect(
        stale.isDisjoint(with: try fields([hash.hidden], text)),
        "after an attempt with another body it sets the fields that belong to the earlier one",
        at: "\(trial.interceptor.id) http.on_request")
    }
  }

  /// Pairs of an attempt that breaks off before a result is delivered, and the attempt after it.
  private static func brokenAttempts(_ trial: InterceptorTrial, _ stage: StageHooks) -> [(Exchange, Exchange)] {
    func broken(_ exchange: Exchange, _ change: (inout Exchange) -> Void = { _ in }) -> (Exchange, Exchange) {
      var earlier = exchange
      earlier.name = "an attempt that breaks off"
      earlier.ending = .error(ErrorSample())
      change(&earlier)
      return (earlier, exchange)
    }
    switch stage.kind {
    case .parsing:
      // The broken attempt has a third of the chunks, or one chunk, which is too short for a result.
      return ParserTrial(trial).inPieces.flatMap { whole in
        [whole.chunks.count / 3, 1].map { count in broken(whole) { $0.chunks = Array($0.chunks.prefix(count)) } }
      }
    case .http:
      let phrases = trial.words.phrases + ["\"https://", "\"data\""]
      let body = Array("{\"data\":{\"list\":\(JSONValue.array(phrases.map(JSONValue.string)).serializedText)}}".utf8)
      let whole = Exchange("a body") { $0.chunks = body.pieces(of: 40) }
      let starts = phrases.flatMap { phrase in [1, 2, 4].map { Array(Array(phrase.utf8).dropLast($0)) } }
      // Long bodies, so that two attempts together exceed a limit for one body.
      let long = [60 << 10, 700 << 10, 6 << 20].map { count in
        broken(Exchange("a body of \(count) bytes") { $0.chunks = [[UInt8](repeating: UInt8(ascii: " "), count: count)] })
      }
      return long
        + Set(starts + [Array("{\"data\"".utf8)]).filter { !$0.isEmpty }.sorted { $0.lexicographicallyPrecedes($1) }.map {
          start in
          broken(whole) { $0.chunks = [start] }
        }
    case .graphQL, .cache:
      let whole = Exchange("a result") { $0.results = [ResultSample(data: EverydayText.object(trial.words))] }
      return [broken(whole) { $0.results = [] }]
    }
  }

  static let refusedRetry = Check(
    "ER04", level: 3, "continues after a refused retry",
    page: Page(
      rule: """
        After a result was delivered, the host refuses RETRY. The stage then ends as after any other failure. A stage that asks for it
        after each failure, also when it has passed on a result of the call, is a warning.
        """,
      reason: """
        A consumer must not get results twice. The refusal also replaces the error that a client would have understood.
        """,
      example: "while (host->set_retry(call, CRB_RETRY_CHAIN, 0) != CRB_OK) { }",
      remedy: "Note in your state that a result has passed. Call set_retry() once, and answer by its status."),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL {
        let late = Exchange("a subscription that breaks off after a result") {
          $0.operation = OperationSample.subscription
          $0.results = [ResultSample(data: #"{"tick":1}"#, flags: UInt32(CRB_RESULT_HAS_NEXT))]
          $0.ending = Exchange.disconnected.ending
        }
        for step in trial.travel([late], stage, instance)[0].steps(of: .onError) where step.verdict == Verdict.retry {
          trial.notes.warn(
            "it asks for another attempt of a subscription whose results were delivered",
            at: "\(trial.interceptor.id) graphql.on_error")
        }
      }
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
      rule: """
        A RETRY after an error with retry_after_ns, or a response with Retry-After, waits at least that long. A shorter delay is a
        warning.
        """,
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
        for (status, seconds) in [429, 503].flatMap({ status in [1, 5, 7, 30].map { (UInt32(status), UInt64($0)) } })
        where stage.kind == .http {
          let exchange = Exchange("a response with Retry-After: \(seconds)") {
            $0.head.status = status
            $0.head.headers.append(HeaderSample(name: "Retry-After", value: "\(seconds)"))
          }
          for step in trial.travel([exchange], stage, instance)[0].steps(of: .onHead) where step.verdict == Verdict.retry {
            let delay = step.staged.retry?.delay ?? 0
            if delay < seconds * 1_000_000_000 {
              trial.notes.warn(
                "it retries after \(delay / 1_000_000) ms, but the server asked for \(seconds * 1000) ms",
                at: "\(trial.interceptor.id) http.on_head")
            }
          }
        }
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
