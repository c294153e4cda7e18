internal import CCarabiner
internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let anyResultCount = Check(
    "ST01", level: 3, "takes any number of results",
    page: Page(
      rule: "No result, one, two and a thousand, with and without an end, are passed.",
      reason: #"""
        Queries have one result, subscriptions as many as they like, and a request that fails has none.
        """#,
      example: "results[i++] = copy(result);          /* results has 16 places */",
      remedy: "Keep nothing per result, or a bounded number."),
    .interceptor { trial in
      try trial.exercise(
        [0, 1, 2, trial.options.times(1000, atLeast: 200)].flatMap { count -> [Exchange] in
          let results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
          return [
            Exchange("\(count) results") { $0.results = results },
            Exchange("\(count) results and an error") {
              $0.results = results
              $0.ending = .error(ErrorSample())
            },
            Exchange("\(count) results and a cancellation") {
              $0.results = results
              $0.ending = .cancel
            },
          ]
        })
    })
}

extension Check {
  static let resultOrder = Check(
    "ST02", level: 3, "keeps the order of results",
    page: Page(
      rule: "Results go on in the order they came, none twice, whether a stage replaces them or not.",
      reason: #"""
        A consumer applies patches and ticks one after the other. In another order they mean something else.
        """#,
      example: "state->held = result;  return CRB_DROP;          /* and stages it after the next one */",
      remedy: "Stage what was held before what came later."),
    .interceptor { trial in
      let count = trial.options.times(100, atLeast: 20)
      let exchange = Exchange("\(count) numbered results") {
        $0.results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL && stage.mutates.contains(.json) {
        let numbers = trial.travel([exchange], stage, instance)[0].elements.compactMap {
          (try? JSONValue(parsing: $0.bytes))?["data"]?["tick"]?.int
        }
        for (earlier, later) in zip(numbers, numbers.dropFirst()) where earlier >= later {
          return trial.notes.fail("result \(later) goes outward after result \(earlier)", at: trial.interceptor.id)
        }
      }
    })
}

extension Check {
  static let stagedAtEnd = Check(
    "ST03", level: 3, "loses nothing that it staged",
    page: Page(
      rule: #"""
        Elements are staged with a verdict that delivers them: not with FAIL, DROP or RETRY, and in on_error not with CONTINUE.
        """#,
      reason: #"""
        What was staged goes with the verdict. The consumer waits for something that was thrown away.
        """#,
      example: "host->emit(call, CRB_EMIT_RESULT, held, 0);  return CRB_DROP;",
      remedy: "CONTINUE with what was staged replaces the result; DROP swallows it and stages nothing."),
    .interceptor { trial in
      try trial.exercise(
        Exchange.usual
          + Exchange.usual.map { usual in
            var exchange = usual
            exchange.results += usual.results
            return exchange
          })
    })
}
