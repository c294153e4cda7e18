extension Check {
  static let er07 = Check(
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
