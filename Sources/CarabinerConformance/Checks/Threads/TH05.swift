extension Check {
  static let th05 = Check(
    "TH05", level: 5, "leaves the call alone once it has resumed",
    page: Page(
      rule: "After resume() the plugin calls no [owner] function for that call until the next hook.",
      reason: #"""
        resume() gives the call back to the host, which may be in the next stage, or finished, before resume() has returned.
        """#,
      example: "host->resume(token, CRB_CONTINUE);  host->header_set(call, name, value, 0);",
      remedy: "host->header_set(call, name, value, 0);  host->resume(token, CRB_CONTINUE);"),
    .interceptor { trial in
      try trial.exercise()
      for schedule in Schedule.all where schedule.beforeReturn == [.wake] {
        var manner = Traveller.Manner()
        manner.schedule = schedule
        try trial.exercise(Exchange.usual, manner)
      }
    })
}
