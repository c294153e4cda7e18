internal import CCarabiner
internal import CCrash
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// One request's way through a row of plugin stages of one kind: their states, and how far each has come.
///
/// It lives as long as the request, retries included, and ends every stage exactly once: that is what rule R9 rests on.
@safe final class PluginCallState: @unchecked Sendable {
  // Used by the request's task alone, as its stages are; only `cancel` may come from another thread and touches atomics.

  let record: CallRecord
  let call: PluginCall
  let row: PluginStageGroup
  /// The stages' own state, one word a stage, in the call's scratch memory.
  let states: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  let instances: UnsafePointer<UnsafeMutableRawPointer?>
  /// Which stages are open: their first hook answered CONTINUE, and an end is owed.
  let isStageOpen: UnsafeMutablePointer<Bool>
  /// No stage from this number on is open.
  private var openEnd = 0
  /// No stage from this number on was asked anything.
  private(set) var reach = 0
  /// The stages of which this call proves nothing good: they broke the contract, or the caller went away while they were pending.
  var unproven: [Int] = []
  /// Whose code the hooks are, and for which request they run, for the case that one does not come back.
  private let subjects: UnsafePointer<UInt>
  private let request: UInt64
  private let isTraced: Bool
  /// Whether all hooks may be called as they are: nobody traces, no plugin wants to be called alone, and none is late.
  var isPlain: Bool
  /// Whether a plugin whose token was revoked may still call functions of the host for this call.
  var isContested = false

  /// - Throws: ``PluginError`` if there are too many calls, or an instance cannot be made.
  init(_ row: PluginStageGroup, call: PluginCall) throws {
    let count = max(row.count, 1)
    let word = unsafe MemoryLayout<UnsafeMutableRawPointer?>.stride
    guard Quarantine.shared.bytes <= call.limits.maximumKeptBytes else {
      throw Self.noRoom(
        row,
        "plugins that do not resume in time hold \(Quarantine.shared.bytes) bytes of earlier calls; look for hooks that time out "
          + "or ignore on_cancel, or raise kept-memory")
    }
    guard let record = CallTable.shared.take() else {
      throw Self.noRoom(row, "more than \(CallTable.maximumCalls) calls are under way; send fewer at once")
    }
    let words = row.hasInstancesPerCall ? 2 * count : count
    guard let memory = unsafe record.scratch.allocate(words * word + count, alignment: word, limit: .max) else {
      CallTable.shared.giveBack(record)
      throw Self.noRoom(row, "no memory for another call; send fewer at once")
    }
    row.tally.begun.wrappingAdd(1, ordering: .relaxed)
    self.record = record
    self.call = call
    self.row = row
    unsafe subjects = unsafe row.subjects
    request = call.context.id
    isTraced = call.isTraced
    isPlain = !isTraced && !row.hasSerialPlugins
    unsafe states = unsafe memory.bindMemory(to: UnsafeMutableRawPointer?.self, capacity: count)
    unsafe isStageOpen = unsafe (memory + words * word).bindMemory(to: Bool.self, capacity: count)
    record.row = row
    record.call = call
    record.operation.store(call.operationCode, ordering: .relaxed)
    record.request.store(call.context.id, ordering: .relaxed)
    guard row.hasInstancesPerCall else {
      unsafe instances = unsafe row.instances
      return
    }
    let own = unsafe (memory + count * word).bindMemory(to: UnsafeMutableRawPointer?.self, capacity: count)
    unsafe instances = unsafe UnsafePointer(own)
    for index in row.stages.indices {
      do {
        unsafe own[index] = unsafe try row.stages[index].plugin.instanceForCall()
      } catch {
        for made in 0..<index { unsafe row.stages[made].plugin.endOfCall(own[made]) }
        row.tally.ended.wrappingAdd(1, ordering: .releasing)
        CallTable.shared.giveBack(record)
        throw error
      }
    }
  }

  private static func noRoom(_ row: PluginStageGroup, _ message: String) -> PluginError {
    PluginError(code: .failed, entry: row.stages.first?.plugin.name ?? "", hook: "", message: message)
  }

  deinit {
    record.endStep()
    // What is still open was dropped by its consumer or cancelled.
    for index in 0..<openEnd where isOpen(index) { cancelHook(index) }
    if row.hasReleases {
      for index in 0..<row.count {
        guard let state = unsafe states[index], let release = unsafe row.tails[index].release else { continue }
        row.stages[index].plugin.subject.during(.release, request: request) { unsafe release(instances[index], state) }
      }
    }
    if row.hasInstancesPerCall {
      for index in row.stages.indices { unsafe row.stages[index].plugin.endOfCall(instances[index]) }
    }
    if !row.guarded.isEmpty { tellBreakers() }
    CallTable.shared.giveBack(record)
    row.tally.ended.wrappingAdd(1, ordering: .releasing)
  }

  /// Begins a pass through the stages: the first, or a retry.
  func beginPass(deadline: UInt64) {
    CCrash_prepare_thread()
    record.attempt.store(UInt32(clamping: call.context.attempt), ordering: .relaxed)
    record.deadline.store(deadline, ordering: .relaxed)
    record.scopeBaggage = Baggage.current
    record.innerBaggage = Baggage()
  }

  func open(_ index: Int) {
    unsafe isStageOpen[index] = true
    noteOpen(before: index + 1)
  }

  /// Of the stages with a lower number some are open.
  func noteOpen(before end: Int) {
    openEnd = max(openEnd, end)
    noteReach(end)
  }

  /// The stages with a lower number were asked, those that did not want to be among them.
  func noteReach(_ end: Int) { reach = max(reach, end) }

  func close(_ index: Int) {
    unsafe isStageOpen[index] = false
    if index == openEnd - 1 { openEnd = index }
  }

  /// Ends the stages from number `last` outward that do not want to know of it.
  ///
  /// - Returns: The first that does, still open; nil if there is none.
  func closeSilently(from last: Int) -> Int? {
    let last = min(last, openEnd - 1)
    guard row.hasEnds else {
      for index in stride(from: last, through: 0, by: -1) { unsafe isStageOpen[index] = false }
      if last == openEnd - 1 { openEnd = 0 }
      return nil
    }
    for index in stride(from: last, through: 0, by: -1) where isOpen(index) {
      guard unsafe row.tails[index].onEnd == nil else { return index }
      close(index)
    }
    return nil
  }

  func isOpen(_ index: Int) -> Bool { unsafe isStageOpen[index] }

  func instance(_ index: Int) -> UnsafeMutableRawPointer? { unsafe instances[index] }

  func name(_ index: Int) -> String { row.stages[index].plugin.name }

  // MARK: Hooks

  /// Calls a hook and looks whether that was all.
  ///
  /// The usual answer, CONTINUE by a hook that only looked at what it was given, costs the call and four loads. Whatever else
  /// a hook does goes on with ``outcome(of:_:)``.
  @inline(__always)
  func invoke(_ hook: Hook, at index: Int, _ body: () -> crb_verdict) -> HookInvocation {
    let start = isTraced ? MonotonicClock.nanoseconds : 0
    record.open(hook, index)
    unsafe CCrash_enter(subjects[index], UInt(hook.rawValue), request)
    let verdict = unsafe row.isSerial[index] ? row.stages[index].plugin.alone(body) : body()
    CCrash_leave()
    // What the host does between hooks is then its own again, whoever else knows the handle.
    if isContested, verdict != Verdict.pending { record.closeHook() }
    return HookInvocation(
      hook: hook, index: index, verdict: verdict, start: start,
      hasPassed: verdict == Verdict.continue && !isTraced && !record.wasEntered.load(ordering: .relaxed))
  }

  /// Calls a hook that most likely only looks.
  ///
  /// - Returns: The call if it wants a closer look; nil if that was all.
  @inline(__always)
  func pass(_ hook: Hook, at index: Int, _ body: () -> crb_verdict) -> HookInvocation? {
    guard isPlain else {
      let made = invoke(hook, at: index, body)
      return made.hasPassed ? nil : made
    }
    record.open(hook, index)
    unsafe CCrash_enter(subjects[index], UInt(hook.rawValue), request)
    let verdict = body()
    CCrash_leave()
    if verdict == Verdict.continue, !record.wasEntered.load(ordering: .relaxed) { return nil }
    return HookInvocation(hook: hook, index: index, verdict: verdict, start: 0, hasPassed: false)
  }

  /// Waits for a hook if it is pending, checks what it answered and takes out what it staged.
  ///
  /// - Returns: The verdict, CONTINUE to RECOVER, and what was staged.
  /// - Throws: ``PluginError`` if the plugin broke a rule or took too long; `CancellationError`.
  func outcome(
    of call: HookInvocation, _ direction: StageEvent.Direction
  ) async throws -> (verdict: crb_verdict, answer: StagedEffects) {
    noteReach(call.index + 1)
    guard call.verdict == Verdict.pending else { return try settle(call, call.verdict, direction) }
    let verdict: crb_verdict
    do {
      verdict = try await completion(call.hook, at: call.index)
    } catch let fault as PluginError {
      // At the end of the request's own time nobody knows how long the plugin would have taken.
      guard fault.code != .timedOut || record.deadline.load(ordering: .relaxed) > MonotonicClock.nanoseconds else { throw fault }
      trace(call, direction, "fault: \(fault.message)", isFailure: true)
      return try passOver(fault, at: call.index)
    }
    return try settle(call, verdict, direction)
  }

  private func trace(
    _ made: HookInvocation, _ direction: StageEvent.Direction, _ outcome: @autoclosure () -> String, isFailure: Bool
  ) {
    guard isTraced else { return }
    let stage = row.stages[made.index]
    call.context.tracer?.record(
      StageEvent(
        kind: stage.kind.traceKind, stage: stage.plugin.name, hook: made.hook.name, direction: direction, outcome: outcome(),
        isFailure: isFailure, isPlugin: true, duration: .nanoseconds(MonotonicClock.nanoseconds - made.start)))
  }

  private func settle(
    _ made: HookInvocation, _ answered: crb_verdict, _ direction: StageEvent.Direction
  ) throws -> (verdict: crb_verdict, answer: StagedEffects) {
    let stage = row.stages[made.index]
    var verdict = answered
    var fault: PluginError?
    if made.verdict != Verdict.pending, record.suspended.revoke() {
      noteRevoked(made.index)
      fault = .fault(
        stage.plugin.name, made.hook, "a token was taken with suspend() but the hook answered \(Verdict.name(verdict))")
    }
    let answer = record.takeAnswer()
    if verdict < 0 { verdict = Verdict.fail }
    if fault == nil { fault = violation(verdict, answer, made.hook, stage) }
    trace(
      made, direction, fault.map { "fault: \($0.message)" } ?? Verdict.name(verdict),
      isFailure: fault != nil || verdict == Verdict.fail)
    guard let fault else { return (verdict, answer) }
    return try passOver(fault, at: made.index)
  }

  // MARK: Cancelling

  func cancelHook(_ index: Int) {
    record.isCancelled.store(true, ordering: .releasing)
    guard let onCancel = unsafe row.tails[index].onCancel else { return }
    row.stages[index].plugin.subject.during(.onCancel, request: request) {
      unsafe onCancel(instances[index], record.handle, states[index])
    }
  }

  /// Tells every open stage that the call was cancelled.
  func cancelOpenStages() {
    for index in (0..<row.count).reversed() where isOpen(index) {
      cancelHook(index)
      close(index)
    }
  }

  // MARK: The end

  /// Runs a stage's `on_end`, if it has one, and ends its pass.
  func end(_ index: Int) async throws -> StagedEffects {
    defer { close(index) }
    guard let onEnd = unsafe row.tails[index].onEnd else { return StagedEffects() }
    let made = invoke(.onEnd, at: index) { unsafe onEnd(instances[index], record.handle, states[index]) }
    guard !made.hasPassed else { return StagedEffects() }
    let (verdict, answer) = try await outcome(of: made, .up)
    guard verdict != Verdict.fail else { throw failure(answer, .onEnd, at: index) }
    return answer
  }

  /// Tells a stage about an error on its way outward and ends its pass; nil if it does not want to know.
  func tell(_ error: any Error, _ index: Int) async throws -> (verdict: crb_verdict, answer: StagedEffects)? {
    defer { close(index) }
    guard let onError = unsafe row.tails[index].onError else { return nil }
    record.endStep()
    defer { record.endStep() }
    let event = unsafe record.keep(record.view(of: error))
    let made = invoke(.onError, at: index) { unsafe onError(instances[index], record.handle, states[index], event) }
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
