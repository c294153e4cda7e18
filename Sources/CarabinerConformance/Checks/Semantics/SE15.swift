extension Check {
  static let se15 = Check(
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
