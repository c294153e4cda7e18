internal import CarabinerBridge

/// Thousands of calls through one stage, one after the other, to find rare faults.
struct LongRun {
  /// How long one run may take, unless a check sets another limit. Plugins that wait in each call make fewer calls. The time for
  /// which the thread waits for a processor does not count: a busy machine does not make a check look at fewer calls.
  static let usualLimit = Duration.seconds(30)

  /// The maximum extension of a run for waits for a processor, as a multiple of its limit.
  private static let maximumExtension = 3

  private let trial: InterceptorTrial
  private let stage: StageHooks
  private let instance: TestHostInstance
  private let limit: Duration

  init(
    _ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, limit: Duration = Self.usualLimit
  ) {
    self.trial = trial
    self.stage = stage
    self.instance = instance
    self.limit = limit
  }

  /// Sends the usual exchanges repeatedly; returns the number of calls.
  @discardableResult
  func run(_ count: Int, _ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()) -> Int {
    let start = ContinuousClock.now
    let queueTime = PatientClock.queueTime
    var deadline = start + limit
    var settings = settings
    settings.keepsSteps = false
    var calls = 0
    while calls < count {
      if ContinuousClock.now >= deadline {
        // The counter of the kernel may be missing, which gives 0. The extension is limited, because all runs of a check share its
        // time limit.
        let waited = max(PatientClock.queueTime, queueTime) - queueTime
        deadline = start + limit + min(.nanoseconds(Int64(clamping: waited)), limit * Self.maximumExtension)
        guard ContinuousClock.now < deadline else { break }
      }
      _ = trial.travel([Exchange.usual[calls % Exchange.usual.count]], stage, instance, settings)
      calls += 1
      if calls % 100 == 0 { forget() }
    }
    forget()
    return calls
  }

  /// Removes data that the test host keeps for other checks, so that it does not count as growth.
  private func forget() {
    trial.testHost.state.withLock { state in
      state.logged = []
      state.carried = []
    }
  }
}
