internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// All call records of the process, by handle.
@safe final class CallTable: @unchecked Sendable {
  // `slots` grows only at its end and a slot is written before `count` makes it visible; records are never freed.

  /// How many calls may pass plugin stages at once.
  static let maximumCalls = 1 << 18

  static let shared = CallTable()

  private let slots: UnsafeMutablePointer<Unmanaged<CallRecord>?>
  private let count = Atomic<Int>(0)
  private let free = Mutex<[CallRecord]>([])

  private init() {
    unsafe slots = .allocate(capacity: Self.maximumCalls)
    unsafe slots.initialize(repeating: nil, count: Self.maximumCalls)
  }

  /// A record for a new call; nil if there are too many.
  func take() -> CallRecord? {
    free.withLock { free in
      if let record = free.popLast() { return record }
      let index = count.load(ordering: .relaxed)
      guard index < Self.maximumCalls else { return nil }
      let record = CallRecord(index: index)
      unsafe slots[index] = unsafe Unmanaged.passRetained(record)
      count.store(index + 1, ordering: .releasing)
      return record
    }
  }

  /// Ends a call: its handle is stale from here on, and its memory is free unless a plugin may still read it.
  func giveBack(_ record: CallRecord) {
    record.endStep()
    record.lock()
    let next = record.generation.load(ordering: .relaxed) &+ 1
    record.generation.store(next == 0 ? 1 : next, ordering: .releasing)
    record.row = nil
    record.call = nil
    record.wasEntered.store(false, ordering: .relaxed)
    record.message = .none
    if record.staged.isTouched { record.staged = StagedEffects() }
    record.innerBaggage = Baggage()
    record.scopeBaggage = Baggage()
    record.isCancelled.store(false, ordering: .relaxed)
    record.deadline.store(.max, ordering: .relaxed)
    record.endScratch()
    record.unlock()
    free.withLock { $0.append(record) }
  }

  /// The record of a handle; nil if it is stale. For functions any thread may call.
  func find(_ handle: crb_call) -> CallRecord? {
    guard let record = record(at: Int(handle >> 32) - 1),
      record.generation.load(ordering: .acquiring) == UInt32(truncatingIfNeeded: handle)
    else { return nil }
    return record
  }

  /// The record in a slot, whoever uses it now.
  func record(at index: Int) -> CallRecord? {
    guard index >= 0, index < count.load(ordering: .acquiring) else { return nil }
    return unsafe slots[index]?.takeUnretainedValue()
  }

  /// Runs an [owner] function on the call of a handle, if a hook is under way and no other thread is in one.
  func enter(_ handle: crb_call, _ body: (CallRecord, Hook, StageBinding) -> crb_status) -> crb_status {
    guard let record = find(handle) else { return Status.stale }
    guard record.busy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return Status.thread
    }
    defer { record.unlock() }
    guard record.generation.load(ordering: .relaxed) == UInt32(truncatingIfNeeded: handle) else { return Status.stale }
    guard let (hook, stage) = record.openHook else { return Status.state }
    record.wasEntered.store(true, ordering: .relaxed)
    return body(record, hook, stage)
  }
}
