internal import CCarabiner

extension Check {
  static let er04 = Check(
    "ER04", level: 3, "goes on when a retry is refused",
    page: Page(
      rule: #"""
        RETRY after a result went outward is refused by the host; the stage then ends as after any other failure.
        """#,
      reason: "A consumer that has seen results must not see them again.",
      example: "while (host->set_retry(call, CRB_RETRY_CHAIN, 0) != CRB_OK) { }",
      remedy: "Ask once, and let the verdict decide."),
    .interceptor { trial in
      try trial.exercise([
        Exchange("an error after two results") {
          $0.results = [ResultSample(flags: UInt32(CRB_RESULT_HAS_NEXT)), ResultSample(flags: UInt32(CRB_RESULT_HAS_NEXT))]
          $0.ending = .error(ErrorSample())
        },
        Exchange("an error after chunks") { $0.ending = .error(ErrorSample(httpStatus: 401)) },
        Exchange("a result with UNAUTHENTICATED after one without") {
          $0.results = [
            ResultSample(), ResultSample(data: nil, errors: #"[{"message":"who?","extensions":{"code":"UNAUTHENTICATED"}}]"#),
          ]
        },
      ])
    })
}
