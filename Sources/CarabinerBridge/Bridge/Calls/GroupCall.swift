package import CCarabiner
package import Carabiner
package import CarabinerABI
internal import FoundationEssentials
package import Synchronization

/// One call through the plugin stages of a group: the object that a `crb_call` refers to.
///
/// It lasts as long as the request, retries included, and ends every stage exactly once: rule R9 depends on that. The objects are
/// never freed. ``CallTable`` reuses them under a new generation, so a stale handle is detected without a look at freed memory.
@safe package final class GroupCall: @unchecked Sendable {
  // Any thread may use the atomics and `suspended`. `next`, `isInUse` and `isKept` belong to `PluginCall`. All else belongs to the
  // call's owner (rule R6). That is the request's task while no hook is open. While one is open, it is the holder of `busy`, which
  // `CallTable.enter` takes for each host function. A plugin that breaks R6 can corrupt its own call, but no freed memory is used.

  package typealias Word = UnsafeMutableRawPointer?

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

  // MARK: The group

  @safe @exclusivity(unchecked) package private(set) var group = PluginStageGroup.empty
  /// The state of each stage, one word a stage, in the call's scratch memory. Valid from `begin` to `end`, as the next three.
  @safe @exclusivity(unchecked) package private(set) var states = unsafe GroupCall.noWords
  @safe @exclusivity(unchecked) private(set) var instances = unsafe UnsafePointer(GroupCall.noWords)
  /// Which stages are open: their first hook returned CONTINUE, and an end is owed to them.
  @safe @exclusivity(unchecked) private(set) var isStageOpen = unsafe GroupCall.noFlags
  /// Identifies the code of each stage for a crash report.
  @safe @exclusivity(unchecked) private(set) var subjects = unsafe UnsafePointer(GroupCall.noSubjects)
  @safe @exclusivity(unchecked) private var bindings = unsafe PluginStageGroup.empty.bindings
  /// All open stages have lower numbers.
  @safe @exclusivity(unchecked) var openEnd = 0
  /// All stages with a called hook have lower numbers.
  @safe @exclusivity(unchecked) var reach = 0
  /// The stages for which the call does not count as a success: they broke the contract, or were pending when the caller left.
  @safe @exclusivity(unchecked) var unproven: [Int] = []
  @safe @exclusivity(unchecked) private(set) var limits = PluginLimits()
  @safe @exclusivity(unchecked) package private(set) var isTraced = false
  /// Whether all hooks can be called directly: no trace, no plugin with serial hooks, and no revoked token.
  @safe @exclusivity(unchecked) var isPlain = true
  /// Why a hook in a worker has no result. It belongs to a hook with the verdict `Verdict.lost`.
  @safe @exclusivity(unchecked) package var loss: PluginError?
  /// The hooks that another process ran ahead of the chain.
  @safe @exclusivity(unchecked) package var ahead: (any HooksAhead)?
  /// The stage whose fault is counted before the chain reaches it; -1: none.
  @safe @exclusivity(unchecked) var countedStage = -1
  /// Whether a plugin whose token was revoked may still call functions of the host for this call.
  @safe @exclusivity(unchecked) var isContested = false

  // MARK: The pass

  /// The values that the plugin stages of the request share; nil between passes.
  @safe @exclusivity(unchecked) package private(set) var shared: PluginCall?
  /// The message that hooks see in this step; nil between steps.
  @safe @exclusivity(unchecked) var message: (any HookMessage & AnyObject)?
  @safe @exclusivity(unchecked) var staged = StagedEffects()
  /// Baggage for the stages further in.
  @safe @exclusivity(unchecked) var innerBaggage = Baggage()
  /// Baggage from further out, for example from the caller or an interceptor in Swift.
  @safe @exclusivity(unchecked) private(set) var scopeBaggage = Baggage()

  // MARK: Memory

  /// Memory of the step: its views and events.
  @safe @exclusivity(unchecked) var views = Arena()
  /// Memory for `scratch`. It lasts as long as the call.
  @safe @exclusivity(unchecked) var scratch = Arena()
  /// Data that views of the step refer to without a copy.
  @safe @exclusivity(unchecked) var pins: [Data] = []
  /// Whether the step has pins or revoked tokens.
  @safe @exclusivity(unchecked) var hasLoans = false
  /// The tokens that were revoked in this step. Their plugins may still read its views.
  @safe @exclusivity(unchecked) var readersOfStep: [crb_token] = []
  /// The tokens that were revoked in this call. Their plugins may still use its scratch memory.
  @safe @exclusivity(unchecked) var readersOfCall: [crb_token] = []

  // MARK: Of PluginCall

  /// The next call of the same request.
  @safe @exclusivity(unchecked) var next: GroupCall?
  /// Whether a pass is under way.
  @safe @exclusivity(unchecked) var isInUse = false
  /// Whether the request keeps the call for later passes.
  @safe @exclusivity(unchecked) var isKept = false

  // The pointers of a call before its first use.
  private nonisolated(unsafe) static let noWords = UnsafeMutablePointer<Word>.allocate(capacity: 1)
  private nonisolated(unsafe) static let noFlags = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
  private nonisolated(unsafe) static let noSubjects = UnsafeMutablePointer<UInt>.allocate(capacity: 1)

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
    return unsafe bindings[Int(phase >> 8)]._withUnsafeGuaranteedRef { body(self, hook, $0) }
  }

  /// Runs a body on the hook that is open, without a note that the plugin called a function of the host. The thread in the hook calls it.
  ///
  /// - Returns: Nil if another thread is in a function of the host.
  package func look<Value>(_ body: (GroupCall, Hook, StageBinding) -> Value) -> Value? {
    guard tryLock() else { return nil }
    defer { unlock() }
    let phase = phase.load(ordering: .sequentiallyConsistent)
    guard phase != 0, let hook = Hook(rawValue: UInt8(truncatingIfNeeded: phase) - 1) else { return nil }
    return unsafe bindings[Int(phase >> 8)]._withUnsafeGuaranteedRef { body(self, hook, $0) }
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

  /// The innermost visible value of the baggage.
  package func visibleBaggage(_ name: String) -> Baggage.Value? {
    innerBaggage[name] ?? scopeBaggage[name] ?? shared?.baggage[name]
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
    let count = max(group.count, 1)
    let word = unsafe MemoryLayout<Word>.stride
    let words = group.hasInstancesPerCall ? 2 * count : count
    guard let memory = unsafe scratch.allocate(words * word + count, alignment: word, limit: .max) else {
      throw Self.noRoom(group, "no memory for another call; send fewer at once")
    }
    group.tally.begun.wrappingAdd(1, ordering: .relaxed)
    states = unsafe memory.bindMemory(to: Word.self, capacity: count)
    isStageOpen = unsafe (memory + words * word).bindMemory(to: Bool.self, capacity: count)
    instances = unsafe group.instances
    if group.hasInstancesPerCall {
      let own = unsafe (memory + count * word).bindMemory(to: Word.self, capacity: count)
      unsafe try Self.makeInstances(of: group, own)
      instances = unsafe UnsafePointer(own)
    }
    subjects = unsafe group.subjects
    bindings = unsafe group.bindings
    self.group = group
    limits = shared.limits
    isTraced = shared.isTraced
    isPlain = !isTraced && !group.hasSerialPlugins
    operation.store(shared.operationCode, ordering: .relaxed)
    requestID.store(shared.context.id, ordering: .relaxed)
  }

  /// Makes the instances of a call, one a stage.
  private static func makeInstances(of group: PluginStageGroup, _ instances: UnsafeMutablePointer<Word>) throws {
    for index in group.stages.indices {
      do {
        unsafe instances[index] = unsafe try group.stages[index].plugin.instanceForCall()
      } catch {
        for made in 0..<index { unsafe group.stages[made].plugin.endOfCall(instances[made]) }
        group.tally.ended.wrappingAdd(1, ordering: .releasing)
        throw error
      }
    }
  }

  /// Gives up the answers that no hook has taken.
  package func discardAhead() {
    ahead?.discard()
    ahead = nil
  }

  /// Ends the call after its last pass: cancels stages that are still open, releases their states and makes the handle stale.
  func end(_ shared: PluginCall) {
    endStep()
    // The consumer dropped the results, or was cancelled.
    for index in 0..<openEnd where isOpen(index) { cancelHook(index) }
    let group = group
    // Stages in workers have `release`.
    if group.hasReleases {
      discardAhead()
      for index in 0..<group.count {
        guard let state = unsafe states[index], let release = unsafe group.tails[index].release else { continue }
        group.stages[index].plugin.subject.during(.release, request: requestID.load(ordering: .relaxed)) {
          unsafe release(instances[index], state)
        }
      }
    }
    if group.hasInstancesPerCall {
      for index in group.stages.indices { unsafe group.stages[index].plugin.endOfCall(instances[index]) }
    }
    if !group.guarded.isEmpty { informBreakers(shared) }
    CallTable.shared.giveBack(self)
    // The group may go now, and with it its plugins.
    group.tally.ended.wrappingAdd(1, ordering: .releasing)
  }

  /// Begins a pass through the stages: the first, or a retry.
  func beginPass(_ shared: PluginCall, deadline: UInt64) {
    self.shared = shared
    attempt.store(UInt32(clamping: shared.context.attempt), ordering: .relaxed)
    self.deadline.store(deadline, ordering: .relaxed)
    scopeBaggage = Baggage.current
    if !innerBaggage.isEmpty { innerBaggage = Baggage() }
  }

  func endPass() {
    endStep()
    shared = nil
  }

  /// Makes the handle stale and takes the memory back, unless a plugin may still use it. Only for ``CallTable``.
  func reset() {
    endStep()
    lock()
    let next = generation.load(ordering: .relaxed) &+ 1
    generation.store(next == 0 ? 1 : next, ordering: .releasing)
    group = .empty
    openEnd = 0
    reach = 0
    if !unproven.isEmpty {
      unproven = []
      countedStage = -1
    }
    if loss != nil { loss = nil }
    isContested = false
    wasEntered.store(false, ordering: .relaxed)
    staged.reset()
    if !innerBaggage.isEmpty { innerBaggage = Baggage() }
    if !scopeBaggage.isEmpty { scopeBaggage = Baggage() }
    isCancelled.store(false, ordering: .relaxed)
    deadline.store(.max, ordering: .relaxed)
    endScratch()
    unlock()
  }

  /// Takes the effects that a hook staged, after it completed. Its views end with the step.
  package func takeEffects() -> StagedEffects {
    closeHook()
    wasEntered.store(false, ordering: .relaxed)
    return staged.take()
  }
}
