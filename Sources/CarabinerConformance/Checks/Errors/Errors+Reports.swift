internal import CarabinerHost
internal import Synchronization

extension Check {
  static let errorExplanations = Check(
    "ER01", level: 3, "says what failed",
    page: Page(
      rule: #"""
        on_error answers CONTINUE, FAIL, RECOVER, DROP or RETRY, as the kind of stage may; FAIL comes with set_error(), for it replaces the error.
        """#,
      reason: "FAIL without an error turns a message that says what to do into one that says nothing.",
      example: "static crb_verdict on_error(…) { return CRB_FAIL; }",
      remedy: #"""
        CONTINUE passes the error on as it is. To replace it, say what failed and what to do, then answer FAIL.
        """#),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let errorShapes = Check(
    "ER02", level: 3, "takes errors of any shape",
    page: Page(
      rule: #"""
        Errors with absent texts, with flags and sizes of newer hosts, and with texts that are no UTF-8 are handled.
        """#,
      reason: #"""
        Errors come from everywhere, and structs grow: a host of the next year fills more than this header knows.
        """#,
      example: "crb_error copy; memcpy(&copy, error, error->size);",
      remedy: #"""
        Copy at most sizeof(crb_error) bytes, look at ptr before you use a view, and ignore flags you do not know.
        """#),
    .interceptor { trial in
      let samples: [(String, ErrorSample)] = [
        ("no texts", ErrorSample(domain: nil, message: nil, detail: nil, origin: nil)),
        ("empty texts", ErrorSample(domain: "", message: "", detail: "", origin: "")),
        ("unknown flags", ErrorSample(flags: .max)), ("a larger size", ErrorSample(extraSize: 64)),
        ("negative numbers", ErrorSample(code: .min, httpStatus: -1)),
        ("a long message", ErrorSample(message: String(repeating: "m", count: 1 << 16))),
        ("a detail that is no JSON", ErrorSample(detail: "{")), ("a retry-after without end", ErrorSample(retryAfter: .max)),
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
    })
}

extension Check {
  static let refusedServices = Check(
    "ER09", level: 5, "degrades when the host refuses",
    page: Page(
      rule: #"""
        When any host function fails, with any of its errors, the stage ends the call or goes on without; it does not crash, hang or break another rule.
        """#,
      reason: "Quotas, limits and missing grants are ordinary in production, and rare on a desk.",
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
      let uses = trial.laboratory.state.withLock { $0.uses }
      // A host that cannot resume cannot be helped.
      for slot in HostSlot.allCases where slot != .resume && uses[slot] != nil {
        let chosen = slot.answersStatus ? statuses : [Status.noMemory]
        for status in chosen {
          for interval in intervals.prefix(trial.options.effort < 1 ? 1 : 3) {
            trial.laboratory.state.withLock { $0.faults.fail(slot, with: status, every: interval) }
            LaboratoryRecord.note("\(slot.rawValue) answers \(status)", inHook: false)
            // An instance that will not be made then has degraded, too.
            do { try trial.exercise() } catch is TrialNotes.Skip {}
            trial.laboratory.state.withLock { $0.faults.clear() }
          }
        }
      }
    })
}

extension Check {
  static let serviceCallbacks = Check(
    "ER10", level: 3, "gives services somebody to tell",
    page: Page(
      rule: "What a service is asked for comes with a function to call when it is done.",
      reason: "Without one the answer is nobody's.",
      example: "fetch->start(self, &request, NULL, NULL);",
      remedy: "Give a function, and in it resume the hook that waits."),
    .interceptor { try $0.exercise() })
}
