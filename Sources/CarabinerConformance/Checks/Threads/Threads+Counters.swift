internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let unlockedCounters = Check(
    "TH11", level: 5, "counts under a lock or with atomics",
    page: Page(
      rule: """
        In an interceptor of the thread class CONCURRENT, memory that calls share is changed under a lock or by atomic instructions.

        The check looks for numbers in the plugin's variables and allocations that grow by the same with each call, and runs hooks on
        two threads, one after the other, step by step: on both threads an instruction without a lock adds to the same number. It
        works on x86-64 only. Other data races are found by ThreadSanitizer.
        """,
      reason: """
        Two threads that add to a number at once load the same value, and one addition is lost. If the number is a reference count, an
        index or the size of a container, memory is corrupted. This happens once in many thousand calls, so tests with many threads
        seldom see it.
        """,
      example: "instance->requests++;         /* hooks of other calls run at the same moment */",
      remedy: """
        Use atomic_fetch_add(), std::atomic, AtomicU64 or Atomic, or take a lock; or declare SERIAL or PER_CALL.
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard trial.interceptor.threadClass == UInt32(CRB_THREADS_CONCURRENT) else {
        throw TrialNotes.Skip("it does not declare CONCURRENT")
      }
      guard let code = unsafe trial.stages.first?.code, unsafe CTestHost_watchCounters(code) != 0 else {
        throw TrialNotes.Skip("hooks cannot be run step by step on this machine")
      }
      trial.testHost.state.withLock { $0.isGuarded = false }
      for stage in trial.stages {
        let instance = try trial.instance()
        defer { instance.destroy() }
        for exchange in Exchange.usual {
          CTestHost_beginMarks()
          var count = 0
          for _ in 0..<8 {
            _ = trial.travel([exchange], stage, instance)
            count = CTestHost_markWords()
          }
          guard count > 0 else { continue }
          let threads = (0..<2).map { _ in unlocked(trial, exchange, stage, instance) }
          for hook in Hook.allCases where (threads[0][hook] ?? 0) & (threads[1][hook] ?? 0) != 0 {
            trial.notes.fail(
              "it adds to a number that all calls share, without a lock or an atomic instruction",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue).\(hook.name)")
          }
        }
      }
    })

  /// For each hook, a bit mask of the watched words that it increments without a lock, on a new thread.
  private static func unlocked(
    _ trial: InterceptorTrial, _ exchange: Exchange, _ stage: StageHooks, _ instance: TestHostInstance
  ) -> [Hook: UInt64] {
    let found = Mutex<[Hook: UInt64]>([:])
    var settings = ExchangeRunner.Settings()
    settings.aroundHooks = { isBefore, hook in
      guard !isBefore else { return CTestHost_beginSteps() }
      let words = CTestHost_endSteps()
      if words != 0 { found.withLock { $0[hook, default: 0] |= words } }
    }
    TestHostThread { _ = trial.travel([exchange], stage, instance, settings) }.join()
    return found.withLock { $0 }
  }
}
