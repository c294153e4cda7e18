internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials
internal import Synchronization

/// What stands behind a `crb_call`: one call passing through the plugin stages of one kind.
///
/// Records are never freed, only used again under a new generation, so a stale handle can be told from a good one without
/// touching freed memory.
final class CallRecord: @unchecked Sendable {
  // The atomics and `suspended` may be touched by any thread. Everything else belongs to the call's owner (rule R6): the
  // host while no hook is open, and while one is open whoever holds `busy`, which `CallTable.enter` takes for each host
  // function. A plugin that breaks R6 can so confuse its own call and touch no freed memory.

  let index: Int
  let generation = Atomic<UInt32>(1)
  let busy = Atomic<Bool>(false)
  /// The hook that is open and the number of its stage, packed; 0 while none is.
  private let phase = Atomic<UInt32>(0)
  /// Whether a function of the host was used since the last hook that had to be looked at.
  let wasEntered = Atomic<Bool>(false)
  let isCancelled = Atomic<Bool>(false)
  let deadline = Atomic<UInt64>(.max)
  let attempt = Atomic<UInt32>(0)
  let operation = Atomic<UInt32>(0)
  let request = Atomic<UInt64>(0)
  let suspended = SuspendedHook()

  // Whoever has the record is alone with it, as said above; to have the runtime check each access would cost more than the hooks.

  /// The stages the call passes.
  @safe @exclusivity(unchecked) var row: PluginStageGroup?
  @safe @exclusivity(unchecked) var call: PluginCall?
  @safe @exclusivity(unchecked) var message = CallMessage.none
  @safe @exclusivity(unchecked) var staged = StagedEffects()
  /// Views handed out in this hook.
  @safe @exclusivity(unchecked) var views = Arena()
  /// What `scratch` gave out; lives as long as the call.
  @safe @exclusivity(unchecked) var scratch = Arena()
  /// Data whose bytes are handed out as they are.
  @safe @exclusivity(unchecked) private var pins: [Data] = []
  /// Baggage visible to the stages further in.
  @safe @exclusivity(unchecked) var innerBaggage = Baggage()
  /// Baggage bound further out, by callers and interceptors in Swift among them.
  @safe @exclusivity(unchecked) var scopeBaggage = Baggage()
  /// Whether the end of the step has more to do than to take the arena of views back: there are pins, or revoked tokens.
  @safe @exclusivity(unchecked) private var hasLoans = false
  /// The tokens that were revoked in this step; their plugins may still read its views.
  @safe @exclusivity(unchecked) private var readersOfStep: [crb_token] = []
  /// The tokens that were revoked in this call; their plugins may still use its scratch memory.
  @safe @exclusivity(unchecked) private var readersOfCall: [crb_token] = []

  init(index: Int) { self.index = index }

  var handle: crb_call { crb_call(index + 1) << 32 | crb_call(generation.load(ordering: .relaxed)) }

  func lock() {
    while !busy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged {}
  }

  func unlock() { busy.store(false, ordering: .releasing) }

  // MARK: Hooks

  /// Opens a hook of stage number `stage`: from here on functions of the host are served.
  @inline(__always)
  func open(_ hook: Hook, _ stage: Int) {
    phase.store(UInt32(truncatingIfNeeded: stage) << 8 | (UInt32(hook.rawValue) + 1), ordering: .releasing)
  }

  /// Closes whatever hook is open. When this returns no function of the host is at work on this call.
  func closeHook() {
    // Only the host opens hooks: what is closed stays so.
    guard phase.load(ordering: .relaxed) != 0 else { return }
    phase.store(0, ordering: .sequentiallyConsistent)
    while busy.load(ordering: .sequentiallyConsistent) {}
  }

  /// The hook that is open and its stage; nil while none is. Only for the holder of `busy`.
  var openHook: (hook: Hook, stage: StageBinding)? {
    let phase = phase.load(ordering: .sequentiallyConsistent)
    guard phase != 0, let hook = Hook(rawValue: UInt8(truncatingIfNeeded: phase) - 1), let row else { return nil }
    return (hook, row.stages[Int(phase >> 8)])
  }

  /// After a hook completed: takes out what it staged. Its views end with ``endStep()``.
  func takeAnswer() -> StagedEffects {
    closeHook()
    wasEntered.store(false, ordering: .relaxed)
    return staged.take()
  }

  /// Ends a step of the call, after the last stage's hook: closes it, and the views handed out so far end.
  func endStep() {
    closeHook()
    if hasLoans { endLoans() }
    views.reset()
  }

  @inline(never)
  private func endLoans() {
    hasLoans = false
    guard !readersOfStep.isEmpty else { return pins.removeAll(keepingCapacity: true) }
    Quarantine.shared.keep(KeptMemory(views, pins), for: readersOfStep)
    readersOfStep = []
    views = Arena()
    pins = []
  }

  /// The end of the call: takes its scratch memory back.
  func endScratch() {
    guard !readersOfCall.isEmpty else { return scratch.reset() }
    Quarantine.shared.keep(KeptMemory(scratch), for: readersOfCall)
    readersOfCall = []
    scratch = Arena()
  }

  /// Takes note that the pending hook's token was revoked: its plugin may read the step's views, and use the call's scratch memory,
  /// until it resumes.
  func noteRevoked(_ generation: UInt32, on environment: HostEnvironment) {
    let token = token(generation)
    Quarantine.shared.add(token, on: environment)
    readersOfStep.append(token)
    // A subscription may have many results, and a hook too slow for each of them.
    readersOfCall = Quarantine.shared.current(readersOfCall) + [token]
    hasLoans = true
  }

  /// A token of this record as plugins see it.
  func token(_ generation: UInt32) -> crb_token { crb_token(index + 1) << 32 | crb_token(generation) }

  /// An event in memory that stays good until the step ends: a hook that is pending may look at it as at its views.
  func keep<Event: BitwiseCopyable>(_ event: Event) -> UnsafeMutablePointer<Event> {
    let memory = unsafe views.allocate(MemoryLayout<Event>.size, alignment: MemoryLayout<Event>.alignment)
    return unsafe memory.initializeMemory(as: Event.self, to: event)
  }

  /// A view of data that stays good until the step ends.
  ///
  /// Data of at most 14 bytes lives inside its value, so short data is copied; longer data has a buffer of its own.
  func view(of data: Data) -> crb_view {
    if data.count < 64 {
      return unsafe data.withUnsafeBytes { unsafe views.copy($0, limit: .max) } ?? (unsafe .absent)
    }
    pins.append(data)
    hasLoans = true
    return unsafe data.withUnsafeBytes {
      unsafe crb_view(ptr: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), len: $0.count)
    }
  }

  func view(of text: String) -> crb_view { unsafe views.copy(text, limit: .max) ?? .absent }

  func view(of bytes: [UInt8]) -> crb_view {
    unsafe bytes.withUnsafeBytes { unsafe views.copy($0, limit: .max) } ?? (unsafe .absent)
  }
}
