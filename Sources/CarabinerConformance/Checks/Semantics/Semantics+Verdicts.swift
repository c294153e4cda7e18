extension Check {
  static let legalVerdicts = Check(
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

extension Check {
  static let stagedForVerdict = Check(
    "SE03", level: 3, "stages what its verdict needs",
    page: Page(
      rule: #"""
        RESPOND and RECOVER come with an element staged by emit(), or for HTTP a head by set_head(); CONTINUE from the first hook comes without one.
        """#,
      reason: #"""
        RESPOND without an answer leaves the caller with nothing, and CONTINUE with one throws the answer away: both are faults of the plugin, and the call fails.
        """#,
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
    "SE15", level: 3, "calls host functions where they are",
    page: Page(
      rule: #"""
        Each host function is called in hooks that have it (section 4 of carabiner.h), and for parts the stage has declared in `needs`.
        """#,
      reason: #"""
        Elsewhere the answer is CRB_E_STATE: the plugin gets nothing, and what it was meant to do does not happen.
        """#,
      example: #"""
        static crb_verdict on_result(…) { host->header_set(call, name, value, 0); … }        /* the request has long gone */
        """#,
      remedy: "Do it in the hook that has it, and carry what later hooks need in your state."),
    .interceptor { try $0.exercise() })
}
