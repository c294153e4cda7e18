internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let blocking = Check(
    "TH06", level: 3, "does not block",
    page: Page(
      rule: """
        A hook returns within 100 ms, and should return within 1 ms. The time for which its thread waited for a processor does not
        count. More than 1 ms is a warning. In 25,000 calls no hook takes longer than 100 ms, and no hook waits longer than 5 ms in more than
        50 calls. If one takes longer than 100 ms, it breaks the rule only
        if it does so again in as many further calls.
        """,
      reason: "The thread that runs a hook also reads from the network for all other requests.",
      example: #"""
        struct addrinfo *found; getaddrinfo("auth.example", "443", NULL, &found);
        """#,
      remedy: "Suspend, and resume when the answer arrives: by crb.fetch/1, crb.timer/1, or a thread of your own."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      trial.testHost.state.withLock { $0.isGuarded = false }
      for stage in trial.stages {
        // The first calls do work that is done only once.
        _ = trial.travel(Exchange.usual, stage, instance)
        let times = leastTimes(trial, stage, instance)
        for (hook, time) in times {
          let text = "\(hook.name) takes \(Double(time / 1000) / 1000) ms"
          let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
          if time > BlockingClock.limit {
            trial.notes.fail(text, at: place)
          } else if time > 1_000_000 {
            trial.notes.warn(text, at: place)
          }
        }
        let blocked = CrowdedCalls(trial, stage).follow(Exchange("a query"), Exchange("a query beside an equal one"), instance)
          .blocked
        trial.notes.expect(
          blocked <= BlockingClock.limit, "its first hook takes \(blocked / 1_000_000) ms while an equal call is on its way",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        // Thousands of calls of a hook that always blocks would take hours, and add nothing.
        if times.allSatisfy({ $0.1 <= BlockingClock.limit }) { lookForRareBlocks(trial, stage, instance) }
      }
    })

  /// For each hook, the shortest of several runs of its slowest exchange, in nanoseconds.
  private static func leastTimes(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) -> [(Hook, UInt64)]
  {
    var longest: [Hook: UInt64] = [:]
    for exchange in Exchange.usual {
      let clock = BlockingClock()
      var settings = ExchangeRunner.Settings()
      settings.aroundHooks = { isBefore, hook in clock.note(isBefore, hook) }
      for _ in 0..<3 { _ = trial.travel([exchange], stage, instance, settings) }
      for (hook, time) in clock.least { longest[hook] = max(longest[hook] ?? 0, time) }
    }
    return longest.sorted { $0.key.rawValue < $1.key.rawValue }
  }

  /// The number of blocks that the machine may cause in one run. More break the rule, even if later calls do not block.
  private static let coincidences = 3
  private static let shortWaits = 50

  /// Looks for a hook that blocks in a few of many calls. The machine may cause such a delay, but hardly twice in the same hook.
  private static func lookForRareBlocks(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    let count = trial.options.times(25_000, atLeast: 2500)
    func blocks() -> (calls: Int, clock: BlockingClock) {
      let clock = BlockingClock()
      var settings = ExchangeRunner.Settings()
      settings.aroundHooks = { isBefore, hook in clock.note(isBefore, hook) }
      let calls = LongRun(trial, stage, instance).run(count, settings)
      return (calls, clock)
    }
    let (tried, before) = blocks()
    let first = before.longest
    for (hook, number) in before.waits where number > shortWaits {
      trial.notes.fail(
        "\(hook.name) waits more than \(BlockingClock.shortWait / 1_000_000) ms in \(number) of \(tried) calls",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
    guard !first.isEmpty, !before.waits.contains(where: { $0.value > shortWaits }) else { return }
    for (hook, number) in before.blocks where number > coincidences {
      trial.notes.fail(
        "\(hook.name) takes more than \(BlockingClock.limit / 1_000_000) ms in \(number) of \(tried) calls",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
    guard trial.notes.findings.isEmpty else { return }
    let (calls, again) = blocks()
    for (hook, time) in again.longest.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where first[hook] != nil {
      trial.notes.fail(
        "\(hook.name) takes \(time / 1_000_000) ms at least once in \(calls) calls",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
  }
}

extension Check {
  static let keptLocks = Check(
    "TH08", level: 5, "holds no lock when a hook returns",
    page: Page(
      rule: """
        Each function of the plugin releases every lock that it takes before it returns: mutexes, read-write locks, spin locks and
        file locks of libc, in create(), hooks, release() and destroy(), in each of 5,000 calls.
        """,
      reason: "The next hook may run on another thread, or never. Then the lock is held forever.",
      example: #"""
        static crb_verdict on_request(…) { pthread_mutex_lock(&lock); return CRB_CONTINUE; }        /* on_end unlocks */
        """#,
      remedy: "Lock and unlock in the same function."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let watch = LockWatch()
      guard watch.begin(trial.stages.first) else { throw TrialNotes.Skip("it imports no locks of libc") }
      let id = trial.interceptor.id
      @Sendable func look(_ place: String) {
        if let held = watch.note(false) { trial.notes.fail("it returns with \(held) locks held", at: place) }
      }
      _ = watch.note(true)
      let instance = try trial.instance()
      look("\(id) create")
      for stage in trial.stages {
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, hook in
          if isBefore { _ = watch.note(true) } else { look("\(id) \(stage.kind.rawValue).\(hook.name)") }
        }
        let start = watch.held
        _ = trial.travel(Exchange.varied(trial.words), stage, instance, settings)
        LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 1500), settings)
        if watch.held > start, trial.notes.findings.isEmpty {
          trial.notes.fail("release() or on_cancel keeps \(watch.held - start) locks", at: "\(id) \(stage.kind.rawValue)")
        }
      }
      _ = watch.note(true)
      instance.destroy()
      look("\(id) destroy")
    })
}
