internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let cacheReads = Check(
    "SE09", level: 3, "a cache answers what was asked",
    page: Page(
      rule: #"""
        on_read answers, if it answers, with what was written for the same operation and variables, and for no others.
        """#,
      reason: "A cache that mixes up two requests shows one user what belongs to another.",
      example: "key = hash(document);            /* and the variables? */",
      remedy: #"""
        Make the key of everything that decides the answer: document, operation name, variables, and what identifies the user if the answer depends on it.
        """#),
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
    "SE10", level: 3, "a cache keeps nothing that failed",
    page: Page(
      rule: #"""
        A result with errors, and one with CRB_RESULT_SYNTHETIC, is not answered by a later on_read.
        """#,
      reason: "The next request may succeed; a cached failure makes sure that it does not.",
      example: "static crb_verdict on_write(…) { keep(key_of(call), result->json); … }",
      remedy: #"""
        Declare CRB_PART_ERRORS in `needs`, and keep a result only if `errors` is absent and CRB_RESULT_SYNTHETIC is not set.
        """#),
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
          passages[1].steps.first?.verdict != Verdict.respond, "it keeps \(name) and answers with it", at: trial.interceptor.id)
      }
    })
}
