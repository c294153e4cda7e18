internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let keptFlags = Check(
    "ST07", level: 3, "keeps the flags of results",
    page: Page(
      rule: """
        A stage that replaces each result stages the new one with the same CRB_RESULT_HAS_NEXT and CRB_RESULT_INCREMENTAL. A parser sets CRB_RESULT_HAS_NEXT if its format says that more follows.
        """,
      reason: "Without the flags a client takes the first part of a deferred response for the whole, and caches store it.",
      example: "host->emit(call, CRB_EMIT_RESULT, masked, 0);",
      remedy: "host->emit(call, CRB_EMIT_RESULT, masked, result->flags);"),
    .interceptor { trial in
      let kept = UInt32(CRB_RESULT_HAS_NEXT) | UInt32(CRB_RESULT_INCREMENTAL)
      for stage in trial.stages where stage.kind == .graphQL && stage.mutates.contains(.json) {
        let instance = try trial.instance()
        defer { instance.destroy() }
        for exchange in Exchange.usual + Exchange.varied(trial.words)
        where exchange.results.contains(where: { $0.flags & kept != 0 }) {
          let steps = trial.travel([exchange], stage, instance)[0].steps(of: .onResult)
          // A stage that holds results back may later emit them merged into one complete result.
          guard steps.allSatisfy({ $0.verdict == Verdict.continue }) else { continue }
          for (sample, step) in zip(exchange.results, steps) {
            guard let last = step.staged.elements.last, last.flags & kept != sample.flags & kept else { continue }
            trial.notes.fail(
              "it replaces a result and changes whether more follows, or whether it is a part",
              at: "\(trial.interceptor.id) graphql.on_result")
          }
        }
      }
      try? ParserTrial(trial).everyBody(of: ["multipart/mixed"]) { body, exchange, travel in
        let elements = travel(exchange([body])).elements
        trial.notes.expect(
          elements.count < 2 || elements.dropLast().allSatisfy { $0.flags & UInt32(CRB_RESULT_HAS_NEXT) != 0 },
          "its results before the last one do not have CRB_RESULT_HAS_NEXT", at: "\(trial.interceptor.id) parser")
      }
    })
}
