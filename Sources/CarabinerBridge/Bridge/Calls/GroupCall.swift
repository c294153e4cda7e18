package import CCarabiner
internal import Carabiner
package import CarabinerABI
internal import FoundationEssentials
package import Synchronization

/// One call through the plugin stages of a group: the object that a `crb_call` refers to.
///
/// It lasts as long as the request, retries included, and ends every stage exactly once: rule R9 depends on that. The objects are
/// never freed. ``CallTable`` reuses them under a new generation, so a stale handle is detected without a look at freed memory.
@safe package final class GroupCall: @unchecked Sendable {
  // Any thread may use the atomics and `suspended`. `link` belongs to `PluginCall`. All else belongs to the call's owner (rule R6).
  // That is the request's task while no hook is open. While one is open, it is the holder of `busy`, which `CallTable.enter` takes
  // for each host function. A plugin that breaks R6 can corrupt its own call, but no freed memory is used.

  let index: Int
  let generation = Atomic<UInt32>(1)
  private let busy = Atomic<Bool>(false)
  /// The hook that is open and the number of its stage, packed; 0 if none is open.
  private let phase = Atomic<UInt32>(0)
  /// Whether a plugin has called a function of the host since the last hook with an outcome.
  let wasEntered = Atomic<Bool>(false)
  let isCancelled = Atomic<Bool>(false)
  package let deadline = Atomic<UInt64>(.max)
  package let attempt = Atomic<UInt32>(0)
  package let operation = Atomic<UInt32>(0)
  package let requestID = Atomic<UInt64>(0)
  let suspended = SuspendedHook()

  // The owner is alone with the rest. A check of each access by the runtime would cost more than the hooks.

  @safe @exclusivity(unchecked) package internal(set) var stages = CallStages()
  @safe @exclusivity(unchecked) package var pass = CallPass()
  @safe @exclusivity(unchecked) package var memory = CallMemory()
  @safe @exclusivity(unchecked) package var remote = RemoteHooks()
  @safe @exclusivity(unchecked) var link = PluginCall.Link()

  init(index: Int) { self.index = index }

  package var handle: crb_call { crb_call(index + 1) << 32 | crb_call(generation.load(ordering: .relaxed)) }

  /// A token of this call as plugins see it.
  func token(_ generation: UInt32) -> crb_token { crb_token(index + 1) << 32 | crb_token(generation) }

  // MARK: Functions of the host

  /// Makes the thread the only one in a function of the host for this call; false if another thread is in one.
  func tryLock() -> Bool { busy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged }

  func lock() {
    while !tryLock() {}
  }

  func unlock() { busy.store(false, ordering: .releasing) }

  /// Opens a hook of stage number `stage`. From then on the plugin may call functions of the host.
  @inline(__always)
  package func open(_ hook: Hook, _ stage: Int) {
    phase.store(UInt32(truncatingIfNeeded: stage) << 8 | (UInt32(hook.rawValue) + 1), ordering: .releasing)
  }

  /// The number of the stage whose hook is open. The thread in the hook calls it.
  package var openStage: Int { Int(phase.load(ordering: .relaxed) >> 8) }

  /// Closes the open hook. When this returns, no thread is in a function of the host for this call.
  func closeHook() {
    // Only the host opens hooks, so a closed one stays closed.
    guard phase.load(ordering: .relaxed) != 0 else { return }
    phase.store(0, ordering: .sequentiallyConsistent)
    while busy.load(ordering: .sequentiallyConsistent) {}
  }

  /// Runs an [owner] function if a hook is under way and no other thread is in one.
  ///
  /// - Parameter wanted: The generation of the plugin's handle.
  @inline(__always)
  func enter(_ wanted: UInt32, _ body: (GroupCall, Hook, StageBinding) -> crb_status) -> crb_status {
    guard generation.load(ordering: .acquiring) == wanted else { return Status.stale }
    guard tryLock() else { return Status.thread }
    defer { unlock() }
    guard generation.load(ordering: .relaxed) == wanted else { return Status.stale }
    let phase = phase.load(ordering: .sequentiallyConsistent)
    guard phase != 0, let hook = Hook(rawValue: UInt8(truncatingIfNeeded: phase) - 1) else { return Status.state }
    wasEntered.store(true, ordering: .relaxed)
    // A hook is open, so the call has its group.
    return unsafe stages.bindings[Int(phase >> 8)]._withUnsafeGuaranteedRef { body(self, hook, $0) }
  }

  /// Runs a body on the hook that is open, without a note that the plugin called a function of the host. The thread in the hook calls it.
  ///
  /// - Returns: Nil if another thread is in a function of the host.
  package func look<Value>(_ body: (GroupCall, Hook, StageBinding) -> Value) -> Value? {
    guard tryLock() else { return nil }
    defer { unlock() }
    let phase = phase.load(ordering: .sequentiallyConsistent)
    guard phase != 0, let hook = Hook(rawValue: UInt8(truncatingIfNeeded: phase) - 1) else { return nil }
    return unsafe stages.bindings[Int(phase >> 8)]._withUnsafeGuaranteedRef { body(self, hook, $0) }
  }

  /// Runs a body on the hook that a token suspended, for the holder of the token.
  ///
  /// - Returns: Whether the token is still the newest one of the call, and waits to be resumed.
  package func enter(_ wanted: UInt32, holding token: UInt32, _ body: (GroupCall, Hook, StageBinding) -> Void) -> Bool {
    var isCurrent = false
    while true {
      let status = enter(wanted) { call, hook, stage in
        isCurrent = call.suspended.generation == token && call.suspended.isArmed
        if isCurrent { body(call, hook, stage) }
        return Status.ok
      }
      // Another thread is in a function for a moment.
      guard status == Status.thread else { return status == Status.ok && isCurrent }
    }
  }

  // MARK: Steps

  /// Begins a step: hooks see this message from now on. The call keeps the message until the step ends.
  @inline(__always)
  package func beginStep(_ message: any HookMessage & AnyObject) {
    endStep()
    pass.message = message
  }

  /// Ends a step, after the last stage's hook: closes the hook and ends the views.
  package func endStep() {
    closeHook()
    memory.endStep()
    pass.message = nil
  }

  /// An event in memory of the step: a pending hook may read it as long as its views.
  ///
  /// - Throws: ``PluginError`` if there is no memory. The request then fails.
  func keep<Event: BitwiseCopyable>(_ event: Event) throws(PluginError) -> UnsafeMutablePointer<Event> {
    guard let kept = unsafe memory.views.allocate(MemoryLayout<Event>.size, alignment: MemoryLayout<Event>.alignment) else {
      throw Self.noRoom(stages.group, "no memory for an event of a call; send fewer at once")
    }
    return unsafe kept.initializeMemory(as: Event.self, to: event)
  }

  // MARK: The call's life

  /// A new call through a group.
  ///
  /// - Throws: ``PluginError`` if there are too many calls, or if an instance cannot be made.
  static func begin(_ group: PluginStageGroup, for shared: PluginCall) throws -> GroupCall {
    let kept = Quarantine.shared.bytes
    guard kept <= shared.limits.maximumKeptBytes else {
      throw noRoom(
        group,
        "plugins that did not resume in time hold \(kept) bytes of earlier calls; look for hooks that time out or ignore on_cancel, "
          + "or raise kept-memory")
    }
    guard let call = CallTable.shared.take() else {
      throw noRoom(group, "more than \(CallTable.maximumCalls) calls are under way; send fewer at once")
    }
    do {
      try call.begin(group, shared)
      return call
    } catch {
      CallTable.shared.giveBack(call)
      throw error
    }
  }

  static func noRoom(_ group: PluginStageGroup, _ message: String) -> PluginError {
    PluginError(code: .failed, entry: group.stages.first?.plugin.name ?? "", hook: "", message: message)
  }

  private func begin(_ group: PluginStageGroup, _ shared: PluginCall) throws {
    try stages.begin(group, shared, in: &memory.scratch)
    operation.store(shared.operationCode, ordering: .relaxed)
    requestID.store(shared.context.id, ordering: .relaxed)
  }

  /// Ends the call after its last pass: cancels stages that are still open, releases their states and makes the handle stale.
  func end(_ shared: PluginCall) {
    endStep()
    // The consumer dropped the results, or was cancelled.
    for index in 0..<stages.openEnd where stages.isOpen(index) { cancelHook(index) }
    let group = stages.group
    // Stages in workers have `release`.
    if group.hasReleases {
      remote.discardAhead()
      stages.releaseStates(request: requestID.load(ordering: .relaxed))
    }
    if group.hasInstancesPerCall { stages.endInstances() }
    if !group.guarded.isEmpty { stages.informBreakers(shared) }
    CallTable.shared.giveBack(self)
    // From here on, the group and its plugins may be released.
    group.tally.ended.wrappingAdd(1, ordering: .releasing)
  }

  /// Begins a pass through the stages: the first, or a retry.
  func beginPass(_ shared: PluginCall, deadline: UInt64) {
    pass.begin(shared)
    attempt.store(UInt32(clamping: shared.context.attempt), ordering: .relaxed)
    self.deadline.store(deadline, ordering: .relaxed)
  }

  func endPass() {
    endStep()
    pass.end()
  }

  /// Makes the handle stale and takes the memory back, unless a plugin may still use it. Only for ``CallTable``.
  func reset() {
    endStep()
    lock()
    let next = generation.load(ordering: .relaxed) &+ 1
    generation.store(next == 0 ? 1 : next, ordering: .releasing)
    stages.reset()
    if remote.loss != nil { remote.loss = nil }
    wasEntered.store(false, ordering: .relaxed)
    pass.reset()
    isCancelled.store(false, ordering: .relaxed)
    deadline.store(.max, ordering: .relaxed)
    memory.endScratch()
    unlock()
  }

  /// Takes the effects that a hook staged, after it completed. Its views end with the step.
  package func takeEffects() -> StagedEffects {
    closeHook()
    wasEntered.store(false, ordering: .relaxed)
    return pass.staged.take()
  }
}
