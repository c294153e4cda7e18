internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Glibc

/// One hook: called, waited for, and judged.
extension ExchangeRunner {
  typealias StatePlace = UnsafeMutablePointer<UnsafeMutableRawPointer?>

  /// Runs a hook to its completion and returns its verdict; an illegal verdict counts as a failure, as in a host.
  ///
  /// - Parameters:
  ///   - event: Makes the event of the hook, while the call is locked.
  ///   - body: Calls the plugin.
  @discardableResult
  func run<Event>(
    _ call: TestHostCall, _ hook: Hook, _ passage: inout ExchangeResult, event: (inout GuardedMemory) -> Event,
    calling body: @escaping (Event, StatePlace) -> crb_verdict
  ) -> crb_verdict {
    let place = "\(interceptor) \(hooks.kind.rawValue).\(hook.name)"
    let event = testHost.state.withLock { _ in
      call.hook = hook
      call.staged = Staged()
      call.refusedElements = 0
      call.token = .none
      let event = event(&call.memory)
      if settings.cancelsAtRead == hook { call.memory.arm() }
      return event
    }
    let firstRead = settings.cancelsAtRead == hook ? FirstRead { [self] in cancel(call) } : nil
    testHost.enter(place)
    if let schedule = settings.schedule {
      testHost.timers.setPace(.held)
      testHost.setInterruption { [self] in if testHost.isArmed(call) { play(schedule.beforeReturn, call) } }
    }
    defer { if settings.schedule != nil { testHost.timers.setPace(.asTimePasses) } }
    settings.aroundHooks?(true, hook)
    let work = { [self] () -> crb_verdict in
      testHost.state.withLock { _ in call.thread = pthread_self() }
      return unsafe withUnsafeMutablePointer(to: &state) { unsafe body(event, $0) }
    }
    let canceller = settings.cancelsDuring == hook ? TestHostThread { self.cancel(call) } : nil
    defer { canceller?.join() }
    var verdict = settings.changesThreads ? TestHostThread.run(stack: settings.stackBytes, work) ?? Verdict.fail : work()
    firstRead?.end()
    settings.aroundHooks?(false, hook)
    let isLate = testHost.setInterruption(nil)
    let wasPending = verdict == Verdict.pending
    verdict = wasPending ? complete(call, place, isLate) : settled(call, verdict, place)
    testHost.leave()
    let (staged, isRevoked) = testHost.state.withLock { _ in
      call.hook = nil
      call.thread = nil
      call.memory.takeBack()
      return (call.staged, call.token.isRevoked)
    }
    testHost.collectTouches(at: place)
    verdict = judged(verdict, hook, staged, place, isRevoked)
    if !settings.keepsSteps { passage.steps = [] }
    passage.steps.append(ExchangeResult.Step(hook: hook, verdict: verdict, staged: staged, wasPending: wasPending))
    // A stage gets no more events after its call was cancelled (R9).
    return isCancelled(call) ? Verdict.fail : verdict
  }

  /// Plays the events of a schedule.
  private func play(_ events: [Schedule.Event], _ call: TestHostCall) {
    for event in events {
      switch event {
      case .wake: testHost.timers.doHeld(patience: .milliseconds(100))
      case .revoke: testHost.revoke(call)
      case .cancel: TestHostThread { self.cancel(call) }.join()
      }
    }
  }

  /// Waits for the token of a hook that answered PENDING, and returns the verdict of resume().
  ///
  /// - Parameter isLate: Whether the plugin had not called any service when its hook returned. The events that come before the
  ///   return then happen now.
  private func complete(_ call: TestHostCall, _ place: String, _ isLate: Bool) -> crb_verdict {
    var token = TestHostCall.Token.none
    let look = { [self] in
      testHost.state.withLock { _ in
        token = call.token
        if case .armed = token { return false }
        return true
      }
    }
    if case .none = testHost.state.withLock({ _ in call.token }) {
      testHost.breach("ER08", "the hook answered PENDING without a token from suspend()", at: place)
      return Verdict.fail
    }
    if let schedule = settings.schedule {
      play((isLate ? schedule.beforeReturn : []) + schedule.afterReturn, call)
      if look() { return token.verdict ?? Verdict.fail }
      // Held work does not run yet, because a cancelled call must end without it.
      if isCancelled(call) {
        let grace = shortened(settings.grace)
        if testHost.resumed.wait(grace, until: look) { return token.verdict ?? Verdict.fail }
        abandon(call)
        testHost.breach("ER06", "the hook was not resumed within \(grace) of on_cancel (order: \(schedule))", at: place)
        testHost.timers.doHeld()
        return Verdict.fail
      }
      testHost.timers.doHeld()
    }
    let patience = shortened(settings.patience)
    guard wait(patience, until: look) else {
      abandon(call)
      testHost.breach("ER06", "a pending hook was not resumed within \(patience)", at: place)
      return Verdict.fail
    }
    return token.verdict ?? Verdict.fail
  }

  private func abandon(_ call: TestHostCall) {
    testHost.revoke(call)
    testHost.state.withLock { $0.abandonedHooks += 1 }
  }

  /// Shortens waits after the plugin has left a hook pending, so that the run ends in time.
  private func shortened(_ duration: Duration) -> Duration {
    switch testHost.state.withLock({ $0.abandonedHooks }) {
    case 0: duration
    case ..<20: min(duration, .milliseconds(100))
    default: .milliseconds(1)
    }
  }

  /// Waits for a pending hook. Held work runs repeatedly, because a task of the plugin may start late and then arm a timer.
  private func wait(_ patience: Duration, until look: () -> Bool) -> Bool {
    let end = ContinuousClock.now + patience
    while !testHost.resumed.wait(min(patience, .milliseconds(20)), until: look) {
      guard ContinuousClock.now < end else { return false }
      if settings.schedule != nil { testHost.timers.doHeld() }
    }
    return true
  }

  /// The verdict of a hook that completed by its return; a token that it still holds is revoked.
  private func settled(_ call: TestHostCall, _ verdict: crb_verdict, _ place: String) -> crb_verdict {
    if testHost.revoke(call) {
      testHost.breach(
        "ER08", "the hook took a token from suspend() and then answered \(Verdict.name(verdict)); answer PENDING", at: place)
    }
    return verdict
  }

  /// Judges a verdict like a host.
  private func judged(
    _ verdict: crb_verdict, _ hook: Hook, _ staged: Staged, _ place: String, _ isRevoked: Bool
  ) -> crb_verdict {
    if verdict < 0 { return Verdict.fail }
    guard verdict != Verdict.pending, Contract.allows(verdict, from: hook, of: hooks.kind) else {
      testHost.breach("SE01", "the verdict \(Verdict.name(verdict)) is not legal here", at: place)
      return Verdict.fail
    }
    let needsElement = verdict == Verdict.respond || verdict == Verdict.recover
    if needsElement, staged.elements.isEmpty, hooks.kind != .http || staged.head == nil {
      testHost.breach("SE03", "\(Verdict.name(verdict)) without anything staged by emit()", at: place)
      return Verdict.fail
    }
    // The plugin does not break the rule if the host has refused the error, or has revoked the token.
    if hook == .onError, verdict == Verdict.fail, staged.failure == nil, !staged.isErrorRefused, !isRevoked {
      testHost.breach("ER01", "FAIL in on_error replaces the error, but set_error() was not called", at: place)
    }
    // A parser that fails in the middle of a chunk may have staged the results before it.
    let isLost = [Verdict.drop, Verdict.retry].contains(verdict) || hook == .onError && verdict == Verdict.continue
    if isLost, !staged.elements.isEmpty {
      testHost.breach(
        "ST03", "\(staged.elements.count) staged elements are lost by the verdict \(Verdict.name(verdict))", at: place)
    }
    let isFirst = hook == .onRequest || hook == .onRead
    if isFirst, verdict == Verdict.continue, !staged.elements.isEmpty {
      testHost.breach("SE03", "CONTINUE after emit() loses the staged elements; answer RESPOND", at: place)
      return Verdict.fail
    }
    return verdict
  }
}
