extension Check {
  static let se01 = Check(
    "SE01", level: 1, "answers only verdicts its hooks may answer",
    page: Page(
      rule: "Each hook answers a verdict of its row in section 5 of carabiner.h.",
      reason: "A host makes a fault of any other one: the call fails, and the message names the plugin.",
      example: "static crb_verdict on_end(void *inst, crb_call call, void *state) { return CRB_RETRY; }",
      remedy: #"""
        Look the hook up in section 5. To end a call from a hook without the verdict you want, use set_error() and CRB_FAIL.
        """#),
    .interceptor { try $0.exercise() })
}
