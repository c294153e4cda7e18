extension Check {
  static let cancelledWaits = Check(
    "ER06", level: 5, "completes after a cancel in every wait",
    page: Page(
      rule: "A suspended hook completes within one second after on_cancel: by resume(), with any verdict.",
      reason: """
        The client has gone. A waiting call holds memory, and after the grace period the host revokes its token.
        """,
      example: "static void on_cancel(…) { }                /* while a fetch of 30 s is in progress */",
      remedy: """
        In on_cancel resume the token with CRB_FAIL. A late answer then finds a stale token, which is not a fault.
        """),
    timeLimit: .seconds(240),
    .interceptor { trial in
      try ScheduleTrial(trial).play()
    })
}

extension Check {
  static let singleResume = Check(
    "ER07", level: 3, "resumes a token once",
    page: Page(
      rule: "The plugin resumes a token once, on one thread, and never uses it again.",
      reason: "If several threads resume a token at once, one verdict counts and the others are lost.",
      example: "host->resume(state->token, CRB_CONTINUE);  …  host->resume(state->token, CRB_FAIL);",
      remedy: "Remove the token from your state, under your lock, before you resume it."),
    timeLimit: .seconds(240),
    .interceptor { trial in
      try ScheduleTrial(trial).play(withRevocation: false)
      try trial.exercise()
    })
}

extension Check {
  static let announcedSuspension = Check(
    "ER08", level: 3, "suspends exactly when it answers PENDING",
    page: Page(
      rule: "A hook that calls suspend() answers PENDING, and a hook that answers PENDING has called suspend().",
      reason: "PENDING without a token waits forever. A token without PENDING belongs to a hook that has ended.",
      example: "token = host->suspend(call);  if (!start(token)) return CRB_FAIL;",
      remedy: "if (!start(token)) { host->resume(token, CRB_FAIL); }  return CRB_PENDING;"),
    .interceptor { try $0.exercise() })
}
