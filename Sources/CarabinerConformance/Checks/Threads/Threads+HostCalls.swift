extension Check {
  static let threadsOfHostCalls = Check(
    "TH01", level: 3, "calls the host from the threads it may",
    page: Page(
      rule: #"""
        Functions tagged [owner] are called by the thread that runs the hook, or after suspend() by whoever holds the token, until resume(); never by two threads at once.
        """#,
      reason: #"""
        The host keeps a call without locks: it belongs to one thread at a time. A second one gets CRB_E_THREAD, if it is lucky.
        """#,
      example: #"""
        static void *worker(void *call) { host->header_set(*(crb_call *)call, name, value, 0); return NULL; }
        """#,
      remedy: #"""
        Suspend first, and let the worker do everything before it calls resume(); after that the call is the host's again.
        """#),
    .interceptor { trial in
      try trial.exercise()
      try trial.exercise(Exchange.usual, Traveller.Manner(changesThreads: true))
    })
}

extension Check {
  static let callsAfterResume = Check(
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
