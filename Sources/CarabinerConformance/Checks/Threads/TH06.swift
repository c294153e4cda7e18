internal import CarabinerHost
internal import Synchronization

extension Check {
  static let th06 = Check(
    "TH06", level: 3, "does not block",
    page: Page(
      rule: #"""
        A hook returns within 100 ms, and should within 1 ms, the time its thread waited for a processor taken off. From 1 ms on it is a warning.
        Of 25,000 calls none takes longer than 100 ms: a hook that does, and does so again in as many calls more, breaks the rule.
        """#,
      reason: "The thread that runs a hook is the one that reads from the network for everybody else.",
      example: #"""
        struct addrinfo *found; getaddrinfo("auth.example", "443", NULL, &found);
        """#,
      remedy: #"""
        Suspend, and resume from where the answer comes: crb.fetch/1, crb.timer/1, or a thread of your own.
        """#),
    timeLimit: .seconds(300),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      for stage in trial.stages {
        // What is done once is not what a request waits for.
        _ = trial.travel(Exchange.usual, stage, instance)
        let clock = BlockingClock()
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in clock.note(isBefore, hook) }
        for _ in 0..<3 { _ = trial.travel(Exchange.usual, stage, instance, manner) }
        for (hook, time) in clock.least {
          let text = "\(hook.name) takes \(Double(time / 1000) / 1000) ms"
          let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
          if time > limit {
            trial.notes.fail(text, at: place)
          } else if time > 1_000_000 {
            trial.notes.warn(text, at: place)
          }
        }
        lookForRareBlocks(trial, stage, instance)
      }
    })

  /// The longest a hook may take, in nanoseconds.
  private static let limit: UInt64 = 100_000_000

  /// A wait that comes once in many calls. The machine may keep a thread for as long, but not in the same hook twice.
  private static func lookForRareBlocks(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: LaboratoryInstance) {
    let count = trial.options.times(25_000, atLeast: 2500)
    func blocks() -> (calls: Int, longest: [Hook: UInt64]) {
      let clock = BlockingClock()
      var manner = Traveller.Manner()
      manner.aroundHooks = { isBefore, hook in clock.note(isBefore, hook) }
      let calls = LongRun(trial, stage, instance).run(count, manner)
      return (calls, clock.longest(over: limit))
    }
    let first = blocks().longest
    guard !first.isEmpty else { return }
    let (calls, again) = blocks()
    for (hook, time) in again.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where first[hook] != nil {
      trial.notes.fail(
        "\(hook.name) takes \(time / 1_000_000) ms at least once in \(calls) calls",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
  }
}
