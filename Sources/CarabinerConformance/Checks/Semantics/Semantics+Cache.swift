internal import CCarabiner
internal import CarabinerABI
internal import CarabinerHost

extension Check {
  static let cacheReads = Check(
    "SE09", level: 3, "a cache returns the entry of the requested key",
    page: Page(
      rule: "If on_read answers, it answers with the entry that was written for the same operation and variables.",
      reason: "A cache that confuses two requests shows the data of one user to another.",
      example: "key = hash(document);            /* and the variables? */",
      remedy: """
        Build the key from everything that determines the answer: document, operation name, variables, and the user if the answer
        depends on the user.
        """),
    .interceptor { trial in
      guard let stage = trial.stages.first(where: { $0.kind == .cache }) else { throw TrialNotes.Skip("it has no cache stage") }
      let instance = try trial.instance()
      defer { instance.destroy() }
      func exchange(_ number: Int, _ results: [ResultSample]) -> Exchange {
        Exchange("the entry \(number)") {
          $0.operation.variables = #"{"first":\#(number)}"#
          $0.results = results
        }
      }
      func sample(_ number: Int) -> ResultSample { ResultSample(data: #"{"books":[{"__typename":"Book","id":"n\#(number)"}]}"#) }
      for number in 0..<20 { _ = trial.travel([exchange(number, [sample(number)])], stage, instance) }
      for number in (0..<40).reversed() {
        let passage = trial.travel([exchange(number, [])], stage, instance)[0]
        guard passage.steps.first?.verdict == Verdict.respond, let answer = passage.elements.first else { continue }
        let text = String(decoding: answer.bytes, as: UTF8.self)
        trial.notes.expect(
          number < 20 && text.contains("\"n\(number)\""), "asked for entry \(number) it answers \(text.prefix(120))",
          at: trial.interceptor.id)
      }
    })
}

extension Check {
  static let cacheWrites = Check(
    "SE10", level: 3, "a cache stores no failed results",
    page: Page(
      rule: "on_read never answers a result with errors, or a result with CRB_RESULT_SYNTHETIC.",
      reason: "The next request may succeed. A cached failure prevents that.",
      example: "static crb_verdict on_write(…) { keep(key_of(call), result->json); … }",
      remedy: """
        Declare CRB_PART_ERRORS in `needs`, and store a result only if `errors` is absent and CRB_RESULT_SYNTHETIC is not set.
        """),
    .interceptor { trial in
      guard let stage = trial.stages.first(where: { $0.kind == .cache }) else { throw TrialNotes.Skip("it has no cache stage") }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let bad: [(String, ResultSample)] = [
        ("a result with errors", ResultSample(errors: #"[{"message":"no"}]"#)),
        ("a result without data", ResultSample(data: nil, errors: #"[{"message":"no"}]"#)),
        ("a result a plugin made", ResultSample(flags: UInt32(CRB_RESULT_SYNTHETIC))),
      ]
      for (number, (name, sample)) in bad.enumerated() {
        let write = Exchange(name) {
          $0.operation.variables = #"{"bad":\#(number)}"#
          $0.results = [sample]
        }
        let read = Exchange("the same operation again") {
          $0.operation.variables = #"{"bad":\#(number)}"#
          $0.results = []
        }
        let passages = trial.travel([write, read], stage, instance)
        trial.notes.expect(
          passages[1].steps.first?.verdict != Verdict.respond, "it stores \(name) and answers with it", at: trial.interceptor.id)
      }
    })
}
