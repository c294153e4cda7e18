extension Check {
  static let er08 = Check(
    "ER08", level: 3, "suspends and says so",
    page: Page(
      rule: "PENDING comes after suspend(), and after suspend() comes PENDING.",
      reason: #"""
        PENDING without a token waits for ever, and a token without PENDING is for a hook that is over.
        """#,
      example: "token = host->suspend(call);  if (!start(token)) return CRB_FAIL;",
      remedy: "if (!start(token)) { host->resume(token, CRB_FAIL); }  return CRB_PENDING;"),
    .interceptor { try $0.exercise() })
}
