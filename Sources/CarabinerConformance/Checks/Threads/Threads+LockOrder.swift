internal import CTestHost
internal import CarabinerBridge

extension Check {
  static let lockOrder = Check(
    "TH10", level: 5, "takes locks in one order",
    page: Page(
      rule: "If the plugin takes a second lock while it holds one, it takes these two in the same order everywhere.",
      reason:
        "If two threads take two locks in opposite orders, each waits for the other forever, with all later requests behind them.",
      example: """
        on_read:  lock(&map);   lock(&stats);  …
        on_write: lock(&stats); lock(&map);    …
        """,
      remedy: "Decide on an order and write it down beside the locks, or use one lock."),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      guard LockWatch().begin(trial.stages.first) else { throw TrialNotes.Skip("it imports no locks of libc") }
      let instance = try trial.instance()
      for stage in trial.stages {
        _ = trial.travel(Exchange.usual + Exchange.usual + Exchange.varied(trial.words), stage, instance)
      }
      instance.drain()
      instance.destroy()
      let count = CTestHost_lockInversions()
      trial.notes.expect(count == 0, "it takes \(count) pairs of locks in both orders", at: trial.interceptor.id)
    })
}
