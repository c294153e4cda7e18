internal import CarabinerHost

extension Check {
  static let se09 = Check(
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
