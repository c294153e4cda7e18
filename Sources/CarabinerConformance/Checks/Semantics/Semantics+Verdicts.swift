extension Check {
  static let legalVerdicts = Check(
    "SE01", level: 1, "answers only legal verdicts",
    page: Page(
      rule: "Each hook answers a verdict of its row in section 5 of carabiner.h.",
      reason: "A host treats any other verdict as a fault: the call fails, and the message names the plugin.",
      example: "static crb_verdict on_end(void *inst, crb_call call, void *state) { return CRB_RETRY; }",
      remedy: """
        Look up the hook in section 5. If it cannot answer the verdict you want, end the call with set_error() and CRB_FAIL.
        """),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let stagedForVerdict = Check(
    "SE03", level: 3, "stages the elements that its verdict needs",
    page: Page(
      rule: """
        RESPOND and RECOVER need an element staged by emit(), or for HTTP a head set by set_head(). The first hook answers
        CONTINUE only without staged elements.
        """,
      reason: """
        RESPOND without an element leaves the caller without an answer. CONTINUE with an element discards it. Both are faults of
        the plugin, and the call fails.
        """,
      example: #"""
        if (hit) { host->emit(call, CRB_EMIT_RESULT, bytes, 0); }
        return CRB_CONTINUE;
        """#,
      remedy: #"""
        if (hit) return host->emit(call, CRB_EMIT_RESULT, bytes, 0) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
        return CRB_CONTINUE;
        """#),
    .interceptor { try $0.exercise(Exchange.usual + Exchange.usual) })
}

extension Check {
  static let functionsInPlace = Check(
    "SE15", level: 3, "calls host functions only in hooks that have them",
    page: Page(
      rule: """
        A plugin calls each host function only in hooks that have it (section 4 of carabiner.h), and only for parts that the stage
        has declared in `needs`.
        """,
      reason: "In other hooks the function answers CRB_E_STATE and has no effect.",
      example: #"""
        static crb_verdict on_result(…) { host->header_set(call, name, value, 0); … }        /* the request was already sent */
        """#,
      remedy: "Call the function in a hook that has it, and keep data for later hooks in your state."),
    .interceptor { try $0.exercise() })
}
