extension Check {
  static let er02 = Check(
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
