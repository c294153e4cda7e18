internal import CCarabiner

extension Check {
  static let st06 = Check(
    "ST06", level: 3, "ends well when the consumer stops early",
    page: Page(
      rule: #"""
        A call that is cancelled between two results ends with on_cancel and release, and leaves nothing behind.
        """#,
      reason: "People close pages. That is the usual end of a subscription, not an exception.",
      example: "static void on_cancel(…) { free(state); }        /* and release() frees it again */",
      remedy: "on_cancel wakes whoever waits; release() frees."),
    .interceptor { trial in
      try trial.exercise(
        (0..<8).map { count in
          Exchange("a subscription that is left after \(count) results") {
            $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
            $0.results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
            $0.chunks = (0..<count).map { _ in Array("{}".utf8) }
            $0.ending = .cancel
          }
        })
    })
}
