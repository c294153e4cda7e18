extension Check {
  static let cancelledWaits = Check(
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

extension Check {
  static let singleResume = Check(
    "ER07", level: 3, "resumes a token once",
    page: Page(
      rule: "A token is resumed once, by one thread, and never used again.",
      reason: #"""
        Of several that resume at once one wins; the others' verdicts are lost, and one of them may have been the truth.
        """#,
      example: "host->resume(state->token, CRB_CONTINUE);  …  host->resume(state->token, CRB_FAIL);",
      remedy: "Take the token out of your state, under your lock, before you resume it."),
    timeLimit: .seconds(240),
    .interceptor { trial in
      try ScheduleTrial(trial).play(withRevocation: false)
      try trial.exercise()
    })
}

extension Check {
  static let announcedSuspension = Check(
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
