internal import CCarabiner
internal import CCrash
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// The hooks of the stages: calls, outcomes and ends.
extension GroupCall {
  /// Calls a hook.
  ///
  /// Most hooks only read and return CONTINUE. That costs the call and a few loads. Every other result goes to ``outcome(of:_:)``.
  @inline(__always)
  func invoke(_ hook: Hook, at index: Int, _ body: () -> crb_verdict) -> HookInvocation {
    let start = stages.isTraced ? MonotonicClock.nanoseconds : 0
    open(hook, index)
    CCrash_enter(stages.subjects[index], UInt(hook.rawValue), requestID.load(ordering: .relaxed))
    let verdict = unsafe stages.group.isSerial[index] ? stages.plugin(index).alone(body) : body()
    CCrash_leave()
    // A late plugin may know the handle. It must not call functions of the host between hooks.
    if stages.isContested, verdict != Verdict.pending { closeHook() }
    return HookInvocation(
      hook: hook, index: index, verdict: verdict, start: start,
      hasPassed: verdict == Verdict.continue && !stages.isTraced && !wasEntered.load(ordering: .relaxed))
  }

  /// Calls a hook that most likely only reads.
  ///
  /// - Returns: The invocation if it has an outcome to process; nil if the message passed.
  @inline(__always)
  func invokeReader(_ hook: Hook, at index: Int, _ body: () -> crb_verdict) -> HookInvocation? {
    guard stages.isPlain else {
      let made = invoke(hook, at: index, body)
      return made.hasPassed ? nil : made
    }
    open(hook, index)
    CCrash_enter(stages.subjects[index], UInt(hook.rawValue), requestID.load(ordering: .relaxed))
    let verdict = body()
    CCrash_leave()
    if verdict == Verdict.continue, !wasEntered.load(ordering: .relaxed) { return nil }
    return HookInvocation(hook: hook, index: index, verdict: verdict, start: 0, hasPassed: false)
  }

  /// Whether a hook let the message pass and staged nothing but changes of headers. The caller then applies them and forgets them.
  ///
  /// Most hooks with an outcome have this one. ``outcome(of:_:)`` would take several times as long for it.
  func passedWithHeaderEdits(_ made: HookInvocation) -> Bool {
    guard made.verdict == Verdict.continue, !stages.isTraced else { return false }
    // Before the look at what is staged: a plugin that breaks the contract may be in a function of the host on another thread.
    closeHook()
    guard pass.staged.hasOnlyHeaderEdits, !suspended.isArmed else { return false }
    stages.noteReach(made.index + 1)
    wasEntered.store(false, ordering: .relaxed)
    return true
  }

  /// Waits for a hook if it is pending, checks its verdict and takes the effects that it staged.
  ///
  /// - Returns: The verdict, CONTINUE to RECOVER, and the effects.
  /// - Throws: ``PluginError`` if the plugin broke a rule or took too long; `CancellationError`.
  func outcome(
    of made: HookInvocation, _ direction: StageEvent.Direction
  ) async throws -> (verdict: crb_verdict, effects: StagedEffects) {
    stages.noteReach(made.index + 1)
    guard made.verdict == Verdict.pending else { return try settle(made, made.verdict, direction) }
    let verdict: crb_verdict
    do {
      verdict = try await completion(made.hook, at: made.index)
    } catch let fault as PluginError {
      // After the request's own deadline it is unknown how long the plugin would have taken.
      guard fault.code != .timedOut || deadline.load(ordering: .relaxed) > MonotonicClock.nanoseconds else { throw fault }
      trace(made, direction, "fault: \(fault.message)", isFailure: true)
      return try passOver(fault, at: made.index)
    }
    return try settle(made, verdict, direction)
  }

  private func trace(
    _ made: HookInvocation, _ direction: StageEvent.Direction, _ outcome: @autoclosure () -> String, isFailure: Bool
  ) {
    guard stages.isTraced else { return }
    let stage = stages.group.stages[made.index]
    pass.shared?.context.tracer?.record(
      StageEvent(
        kind: stage.kind.traceKind, stage: stage.plugin.name, hook: made.hook.name, direction: direction, outcome: outcome(),
        isFailure: isFailure, isPlugin: true, duration: .nanoseconds(MonotonicClock.nanoseconds - made.start)))
  }

  private func settle(
    _ made: HookInvocation, _ answered: crb_verdict, _ direction: StageEvent.Direction
  ) throws -> (verdict: crb_verdict, effects: StagedEffects) {
    let stage = stages.group.stages[made.index]
    var verdict = answered
    var fault: PluginError?
    if made.verdict != Verdict.pending, suspended.revoke() {
      noteRevoked(made.index)
      fault = .fault(
        stage.plugin.name, made.hook, "a token was taken with suspend() but the hook answered \(Verdict.name(verdict))")
    }
    let effects = takeEffects()
    if verdict < 0 { verdict = Verdict.fail }
    if fault == nil { fault = violation(verdict, effects, made.hook, stage) }
    trace(
      made, direction, fault.map { "fault: \($0.message)" } ?? Verdict.name(verdict),
      isFailure: fault != nil || verdict == Verdict.fail)
    guard let fault else { return (verdict, effects) }
    return try passOver(fault, at: made.index)
  }

  // MARK: Cancelling

  func cancelHook(_ index: Int) {
    isCancelled.store(true, ordering: .releasing)
    guard let onCancel = unsafe stages.group.tails[index].onCancel else { return }
    stages.plugin(index).subject.during(.onCancel, request: requestID.load(ordering: .relaxed)) {
      unsafe onCancel(stages.instances[index], handle, stages.states[index])
    }
  }

  /// Calls `on_cancel` of every open stage and closes it.
  func cancelOpenStages() {
    for index in (0..<stages.group.count).reversed() where stages.isOpen(index) {
      cancelHook(index)
      stages.close(index)
    }
  }

  // MARK: The end

  /// Calls a stage's `on_end`, if it has one, and closes the stage.
  func end(_ index: Int) async throws -> StagedEffects {
    defer { stages.close(index) }
    guard let onEnd = unsafe stages.group.tails[index].onEnd else { return StagedEffects() }
    let made = invoke(.onEnd, at: index) { unsafe onEnd(stages.instances[index], handle, stages.states[index]) }
    guard !made.hasPassed else { return StagedEffects() }
    let (verdict, effects) = try await outcome(of: made, .up)
    guard verdict != Verdict.fail else { throw failure(effects, .onEnd, at: index) }
    return effects
  }

  /// Calls a stage's `on_error` and closes the stage; nil if the stage does not have the hook, or lets the error pass.
  func inform(_ index: Int, of error: any Error) async throws -> (verdict: crb_verdict, effects: StagedEffects)? {
    defer {
      stages.close(index)
      endStep()
    }
    guard let onError = unsafe stages.group.tails[index].onError else { return nil }
    let event: UnsafeMutablePointer<crb_error>
    do throws(PluginError) {
      unsafe event = unsafe try keep(memory.view(of: error))
    } catch {
      // Each open stage gets exactly one end (rule R9), and this one needs no memory.
      cancelHook(index)
      throw error
    }
    let made = invoke(.onError, at: index) { unsafe onError(stages.instances[index], handle, stages.states[index], event) }
    return made.hasPassed ? nil : try await outcome(of: made, .up)
  }
}

extension StageKind {
  var traceKind: StageEvent.Kind {
    switch self {
    case .graphQL: .graphQL
    case .http: .http
    case .cache: .cache
    case .parsing: .parsing
    }
  }
}
