extension Check {
  static let threadsOfHostCalls = Check(
    "TH01", level: 3, "calls the host from permitted threads",
    page: Page(
      rule: """
        Functions tagged [owner] are called by the thread that runs the hook. After suspend() the holder of the token calls them,
        until resume(). Two threads never call them at once.
        """,
      reason: """
        The host uses no locks for a call: it belongs to one thread at a time. A second thread gets CRB_E_THREAD at best.
        """,
      example: #"""
        static void *worker(void *call) { host->header_set(*(crb_call *)call, name, value, 0); return NULL; }
        """#,
      remedy: """
        Suspend first, and let the worker do everything before it calls resume(). After that the call belongs to the host again.
        """),
    .interceptor { trial in
      try trial.exercise()
      try trial.exercise(Exchange.usual, ExchangeRunner.Settings(changesThreads: true))
    })
}

extension Check {
  static let callsAfterResume = Check(
    "TH05", level: 5, "does not use a call after resume()",
    page: Page(
      rule: "After resume() the plugin calls no [owner] function for that call until the next hook.",
      reason: """
        resume() gives the call back to the host. The call may be in the next stage, or finished, before resume() has returned.
        """,
      example: "host->resume(token, CRB_CONTINUE);  host->header_set(call, name, value, 0);",
      remedy: "host->header_set(call, name, value, 0);  host->resume(token, CRB_CONTINUE);"),
    .interceptor { trial in
      try trial.exercise()
      for schedule in Schedule.all where schedule.beforeReturn == [.wake] {
        var settings = ExchangeRunner.Settings()
        settings.schedule = schedule
        try trial.exercise(Exchange.usual, settings)
      }
    })
}
