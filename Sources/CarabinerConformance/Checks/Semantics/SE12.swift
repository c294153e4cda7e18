internal import CarabinerHost

extension Check {
  static let se12 = Check(
    "SE12", level: 3, "a parser refuses what is broken",
    page: Page(
      rule: #"""
        A body that is cut short, followed by more, not UTF-8 or with a name twice in an object is a parse error, never a result.
        """#,
      reason: "A response that was cut short and taken for whole is data loss that nobody notices.",
      example: "if (depth == 0) { emit(…); return CRB_CONTINUE; }      /* and the rest of the body? */",
      remedy: #"""
        Read to the end of the body, and answer CRB_FAIL with CRB_ERROR_PARSE if anything but white space is left, or missing.
        """#),
    .interceptor { trial in
      try ParserTrial(trial).everyBody(of: ["application/json", "application/cbor"]) { body, exchange, travel in
        let step = max(1, body.count / trial.options.times(64, atLeast: 16))
        for end in stride(from: 0, to: body.count, by: step) {
          trial.notes.expect(
            travel(exchange([Array(body[..<end])])).elements.isEmpty,
            "a body that ends after \(end) of \(body.count) bytes gives a result",
            at: trial.interceptor.id)
        }
        trial.notes.expect(
          travel(exchange([body + Array("garbage".utf8)])).elements.isEmpty, "a body with more behind it gives a result",
          at: trial.interceptor.id)
      }
    })
}
