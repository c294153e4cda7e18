extension Check {
  static let st04 = Check(
    "ST04", level: 5, "stops staging when the window is full",
    page: Page(
      rule: #"""
        A hook that stages many elements listens to CRB_E_LIMIT, and stages the rest in its next hooks.
        """#,
      reason: #"""
        Without back-pressure one small response that unfolds into many results takes the memory of the host.
        """#,
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
