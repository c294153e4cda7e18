internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let errorExplanations = Check(
    "ER01", level: 3, "explains its failures",
    page: Page(
      rule: """
        on_error answers CONTINUE, FAIL, RECOVER, DROP or RETRY, as allowed for the kind of stage. FAIL needs set_error(), because
        it replaces the error. No hook fails by a fault of the plugin, such as an index out of range. An error that replaces one
        with an HTTP status or a delay has a status or a delay too; none is a warning. One with the code and the status of the old
        error has its delay too; none is a warning.
        """,
      reason: """
        FAIL without an error replaces a useful message by an empty one. A client that loses the status 429 and the delay asks again
        at once.
        """,
      example: "static crb_verdict on_error(…) { return CRB_FAIL; }",
      remedy: """
        CONTINUE passes the error unchanged. To replace it, call set_error() with what failed and what to do next, and with the flags,
        http_status and retry_after_ns of the error, then answer FAIL.
        """),
    .interceptor { trial in
      try trial.exercise(Exchange.usual + Exchange.varied(trial.words))
      let instance = try trial.instance()
      defer { instance.destroy() }
      let busy = Exchange("an error with the status 429 and a delay") {
        $0.results = []
        $0.chunks = []
        $0.ending = .error(ErrorSample(code: 429, httpStatus: 429, retryAfter: 5_000_000_000))
      }
      for stage in trial.stages {
        for step in trial.travel([busy], stage, instance)[0].steps(of: .onError) where step.verdict == Verdict.fail {
          guard let failure = step.staged.failure, failure.retryAfter == 0 else { continue }
          let place = "\(trial.interceptor.id) \(stage.kind.rawValue).on_error"
          if failure.httpStatus == 0 {
            trial.notes.warn(
              "it replaces an error that has a status and a delay by one without them: \(failure.message.prefix(80))", at: place)
          } else if failure.code == 429, failure.httpStatus == 429 {
            trial.notes.warn(
              "it replaces an error by one with the same code and status, and loses retry_after_ns: \(failure.message.prefix(80))",
              at: place)
          }
        }
      }
    })
}

extension Check {
  static let errorShapes = Check(
    "ER02", level: 3, "handles errors of any shape",
    page: Page(
      rule: """
        A stage handles errors with absent texts, with flags and sizes of newer hosts, and with texts that are not UTF-8. It cuts
        texts between characters. A text that it hides in a message is also hidden after characters whose lower case has another
        length.
        """,
      reason: """
        Errors come from many sources, and structs grow: a newer host fills more fields than this header has.
        """,
      example: "crb_error copy; memcpy(&copy, error, error->size);",
      remedy: "Copy at most sizeof(crb_error) bytes, check ptr before you use a view, and ignore unknown flags."),
    .interceptor { trial in
      let samples: [(String, ErrorSample)] = [
        ("no texts", ErrorSample(domain: nil, message: nil, detail: nil, origin: nil)),
        ("empty texts", ErrorSample(domain: "", message: "", detail: "", origin: "")),
        ("unknown flags", ErrorSample(flags: .max)), ("a larger size", ErrorSample(extraSize: 64)),
        ("negative numbers", ErrorSample(code: .min, httpStatus: -1)),
        ("a long message", ErrorSample(message: String(repeating: "m", count: 1 << 16))),
        ("a detail that is not JSON", ErrorSample(detail: "{")), ("an endless retry-after", ErrorSample(retryAfter: .max)),
      ]
      try trial.exercise(
        samples.flatMap { name, sample in
          [true, false].map { hasResult in
            Exchange("an error with \(name)\(hasResult ? " after a result" : "")") {
              if !hasResult {
                $0.results = []
                $0.chunks = []
              }
              $0.ending = .error(sample)
            }
          }
        })
      let instance = try trial.instance()
      defer { instance.destroy() }
      for (stage, text) in trial.stages.flatMap({ stage in Exchange.foreign.map { (stage, $0) } }) {
        let exchange = Exchange("an error with the message \(text.prefix(8))…") {
          $0.results = []
          $0.chunks = []
          $0.ending = .error(ErrorSample(message: text))
        }
        for failure in trial.travel([exchange], stage, instance)[0].steps.compactMap(\.staged.failure) {
          trial.notes.expect(
            !(failure.message + failure.detail).contains("\u{FFFD}"), "it cuts a text in the middle of a character",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      for stage in trial.stages { hidesTexts(trial, stage, instance) }
    })

  /// Sends error messages that contain a credential. Some have characters before it whose UTF-8 length changes in lower case, which
  /// shifts offsets.
  private static func hidesTexts(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    let credential = "zqq7w8e9r0t1"
    func message(_ text: String) -> String? {
      let exchange = Exchange("an error with the message \(text)") {
        $0.results = []
        $0.chunks = []
        $0.ending = .error(ErrorSample(message: text))
      }
      // No message, if the stage refuses the call or retries it.
      guard let step = trial.travel([exchange], stage, instance)[0].steps(of: .onError).last else { return nil }
      return step.verdict == Verdict.continue ? text : step.verdict == Verdict.fail ? step.staged.failure?.message : nil
    }
    for start in ["token=", "password=", "secret=", "api_key=", "Bearer ", "Authorization: Bearer "] {
      let text = "request failed: \(start)\(credential) at 12:00"
      let hides = ["", "x "].allSatisfy { start in message(start + text).map { !$0.contains(credential.suffix(6)) } ?? false }
      for characters in Exchange.resized where hides {
        guard let found = message("\(characters) \(text)") else { continue }
        trial.notes.expect(
          !found.contains(credential.suffix(6)),
          "it hides the text after \(start) in a message, and not after characters such as \(characters.scalarName)",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue).on_error")
      }
    }
  }
}

extension String {
  /// The number of its first character, as in U+212A.
  fileprivate var scalarName: String { "U+\(String(unicodeScalars.first?.value ?? 0, radix: 16, uppercase: true))" }
}

extension Check {
  static let refusedServices = Check(
    "ER09", level: 5, "survives failing host functions",
    page: Page(
      rule: """
        If a host function fails, with any of its errors, the stage ends the call or continues without the function. It does not
        crash, hang or break another rule.
        """,
      reason: "Quotas, limits and missing grants are common in production, and rare during development.",
      example: "crb_buf b = host->buf_alloc(self, n, &p);  memcpy(p, json, n);",
      remedy: #"""
        if (!b) return fail(call, "no memory for the answer");
        """#),
    timeLimit: .seconds(240),
    .interceptor { trial in
      let statuses = [
        Status.invalid, Status.noMemory, Status.unsupported, Status.state, Status.limit, Status.notFound, Status.readOnly,
      ]
      let intervals = [1, 2, 3]
      try trial.exercise()
      let uses = trial.testHost.state.withLock { $0.uses }
      // Without resume() no call could complete.
      for slot in HostSlot.allCases where slot != .resume && uses[slot] != nil {
        let chosen = slot.answersStatus ? statuses : [Status.noMemory]
        for status in chosen {
          for interval in intervals.prefix(trial.options.effort < 1 ? 1 : 3) {
            trial.testHost.state.withLock { $0.faults.fail(slot, with: status, every: interval) }
            FlightRecord.note("\(slot.rawValue) answers \(status)", inHook: false)
            // A plugin may also refuse to create an instance.
            do { try trial.exercise() } catch is TrialNotes.Skip {}
            trial.testHost.state.withLock { $0.faults.clear() }
          }
        }
      }
    })
}

extension Check {
  static let serviceCallbacks = Check(
    "ER10", level: 3, "passes a callback to services",
    page: Page(
      rule: "Each request to a service names a function to call at its end.",
      reason: "Without a function the plugin never gets the answer.",
      example: "fetch->start(self, &request, NULL, NULL);",
      remedy: "Pass a function, and resume the waiting hook in it."),
    .interceptor { try $0.exercise() })
}
