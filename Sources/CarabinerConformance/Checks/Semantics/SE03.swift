extension Check {
  static let se03 = Check(
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
