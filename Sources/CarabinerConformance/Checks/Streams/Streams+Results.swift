internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let anyResultCount = Check(
    "ST01", level: 3, "handles any number of results",
    page: Page(
      rule: "A stage passes 0, 1, 2 and 1,000 results, with and without an end.",
      reason: "Queries have one result, subscriptions have any number, and a failed request has none.",
      example: "results[i++] = copy(result);          /* results has 16 places */",
      remedy: "Keep no data per result, or a bounded amount."),
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
      rule: """
        Results leave a stage in the order in which they arrived, and none twice, even if the stage replaces them. Each call gets its
        results, also those that another call has got before.
        """,
      reason: "A consumer applies results one after the other. In another order they mean something else.",
      example: "state->held = result;  return CRB_DROP;          /* and stages it after the next one */",
      remedy: "Stage a held result before later ones."),
    .interceptor { trial in
      let count = trial.options.times(100, atLeast: 20)
      let exchange = Exchange("\(count) numbered results") {
        $0.results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL {
        // Whether results reach the consumers of equal subscriptions that run one after the other.
        let delivered = [1, 1, 2, 2].map { number in
          let event = Exchange("a subscription with the event \(number)") {
            $0.operation = OperationSample.subscription
            $0.results = [ResultSample(data: #"{"tick":\#(number)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT))]
          }
          return trial.travel([event], stage, instance)[0].hasForwarded
        }
        trial.notes.expect(
          delivered != [true, false, true, false], "a subscription does not get an event that an equal one has got before",
          at: trial.interceptor.id)
      }
      for stage in trial.stages where stage.kind == .graphQL && stage.mutates.contains(.json) {
        let numbers = trial.travel([exchange], stage, instance)[0].elements.compactMap {
          (try? JSONValue(parsing: $0.bytes))?["data"]?["tick"]?.int
        }
        for (earlier, later) in zip(numbers, numbers.dropFirst()) where earlier >= later {
          return trial.notes.fail("result \(later) is delivered after result \(earlier)", at: trial.interceptor.id)
        }
      }
    })
}

extension Check {
  static let stagedAtEnd = Check(
    "ST03", level: 3, "discards no staged element",
    page: Page(
      rule: """
        Elements are staged only with a verdict that delivers them: not with DROP or RETRY, and in on_error not with CONTINUE.
        FAIL discards them too. A hook that fails after it staged a good element breaks no rule.
        """,
      reason: """
        The verdict decides what happens with staged elements. With these verdicts the host discards them, and the consumer never
        gets them.
        """,
      example: "host->emit(call, CRB_EMIT_RESULT, held, 0);  return CRB_DROP;",
      remedy: "CONTINUE with a staged element replaces the result. DROP removes the result and must stage nothing."),
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
