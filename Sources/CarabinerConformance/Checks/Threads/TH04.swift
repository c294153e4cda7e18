internal import CarabinerHost

extension Check {
  static let th04 = Check(
    "TH04", level: 5, "can be cancelled in the middle of any hook",
    page: Page(
      rule: #"""
        on_cancel may come on another thread while a hook of the same call runs, and before or after it.
        """#,
      reason: "A caller leaves when it wants to, not between two hooks.",
      example: #"""
        static void on_cancel(…) { close(state->fd); state->fd = -1; }        /* while on_chunk writes to it */
        """#,
      remedy: "Set an atomic flag, wake your waiter, and return. Let the hook look at the flag."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      for hook in Hook.allCases {
        var manner = Traveller.Manner()
        manner.cancelsDuring = hook
        for _ in 0..<trial.options.times(20, atLeast: 3) { try trial.exercise(Exchange.usual, manner) }
      }
    })
}
