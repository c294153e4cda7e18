internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let se10 = Check(
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
