extension Check {
  static let er06 = Check(
    "ER06", level: 5, "ends when it is cancelled, whatever it waits for",
    page: Page(
      rule: #"""
        Wherever a hook is suspended, it completes within a second of on_cancel: by resume(), with any verdict.
        """#,
      reason: #"""
        The caller has gone. What still waits holds memory, and after the grace its token is taken away.
        """#,
      example: "static void on_cancel(…) { }                /* while a fetch of 30 s is under way */",
      remedy: #"""
        In on_cancel resume the token with CRB_FAIL; the late answer then finds it stale, which is no fault.
        """#),
    timeLimit: .seconds(240),
    .interceptor { trial in
      try ScheduleTrial(trial).play()
    })
}
