internal import CCarabiner

extension Check {
  static let st01 = Check(
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
