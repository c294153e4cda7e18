internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// Calls of one instance that are on their way at the same time.
struct CrowdedCalls {
  private let trial: InterceptorTrial
  private let stage: StageHooks

  init(_ trial: InterceptorTrial, _ stage: StageHooks) {
    self.trial = trial
    self.stage = stage
  }

  private var first: Hook {
    switch stage.kind {
    case .cache: .onRead
    case .parsing: .onHead
    case .graphQL, .http: .onRequest
    }
  }

  /// Begins each call inside of the one before, and returns how many of them the stage lets pass at once. Calls that suspend are
  /// cancelled.
  func admitted(of count: Int, _ exchange: Exchange, _ instance: TestHostInstance) -> Int {
    let passed = Atomic(0)
    @Sendable func begin(_ depth: Int) {
      guard depth < count else { return }
      var settings = ExchangeRunner.Settings()
      settings.schedule = Schedule(beforeReturn: [], afterReturn: [.cancel])
      let first = first
      let hasBegun = Atomic(false)
      settings.aroundHooks = { isBefore, hook in
        guard !isBefore, hook == first, !hasBegun.exchange(true, ordering: .relaxed) else { return }
        begin(depth + 1)
      }
      let passage = trial.travel([exchange], stage, instance, settings)[0]
      if let step = passage.steps.first, step.verdict == Verdict.continue, !step.wasPending { passed.add(1, ordering: .relaxed) }
    }
    TestHostThread(stack: Self.stackBytes) { begin(0) }.join()
    return passed.load(ordering: .relaxed)
  }

  /// The stack of the thread, in bytes. It is large, because the calls are nested on one thread.
  private static let stackBytes = 512 << 20

  /// Sends a request, and the same one on another thread while the first is on its way.
  ///
  /// - Returns: The second call, and for how long its first hook blocked, in nanoseconds.
  func follow(_ leader: Exchange, _ follower: Exchange, _ instance: TestHostInstance) -> (
    passage: ExchangeResult?, blocked: UInt64
  ) {
    let second = Mutex<(passage: ExchangeResult?, blocked: UInt64)>((nil, 0))
    let hasReturned = TestHostBell()
    let isBack = Atomic(false)
    let thread = Mutex<TestHostThread?>(nil)
    let first = first
    var settings = ExchangeRunner.Settings()
    settings.aroundHooks = { isBefore, hook in
      guard !isBefore, hook == first, thread.withLock({ $0 == nil }) else { return }
      let other = TestHostThread {
        let clock = BlockingClock()
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, hook in
          clock.note(isBefore, hook)
          guard !isBefore, hook == first else { return }
          isBack.store(true, ordering: .releasing)
          hasReturned.ring()
        }
        let passage = trial.travel([follower], stage, instance, settings)[0]
        let blocked = clock.longest[first] ?? 0
        second.withLock { $0 = (passage, blocked) }
      }
      thread.withLock { $0 = other }
      _ = hasReturned.wait(.seconds(2)) { isBack.load(ordering: .acquiring) }
    }
    _ = trial.travel([leader], stage, instance, settings)
    thread.withLock { $0 }?.join()
    return second.withLock { $0 }
  }
}
