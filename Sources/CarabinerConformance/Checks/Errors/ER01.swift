extension Check {
  static let er01 = Check(
    "ER01", level: 3, "says what failed",
    page: Page(
      rule: #"""
        on_error answers CONTINUE, FAIL, RECOVER, DROP or RETRY, as the kind of stage may; FAIL comes with set_error(), for it replaces the error.
        """#,
      reason: "FAIL without an error turns a message that says what to do into one that says nothing.",
      example: "static crb_verdict on_error(…) { return CRB_FAIL; }",
      remedy: #"""
        CONTINUE passes the error on as it is. To replace it, say what failed and what to do, then answer FAIL.
        """#),
    .interceptor { try $0.exercise() })
}
