package import CCarabiner
internal import Carabiner
package import CarabinerABI
internal import Glibc
internal import Synchronization

/// All calls of the process, by handle.
@safe package final class CallTable: @unchecked Sendable {
  // `slots` grows only at its end. A slot is written before `count` makes it visible, and calls are never freed.

  /// How many calls may pass plugin stages at once.
  package static let maximumCalls = 1 << 18

  package static let shared = CallTable()

  private let slots: UnsafeMutablePointer<Unmanaged<GroupCall>?>
  private let count = Atomic<Int>(0)
  private let free = Mutex<[GroupCall]>([])

  private init() {
    unsafe slots = .allocate(capacity: Self.maximumCalls)
    unsafe slots.initialize(repeating: nil, count: Self.maximumCalls)
  }

  /// An object for a new call; nil if there are too many.
  func take() -> GroupCall? {
    free.withLock { free in
      if let call = free.popLast() { return call }
      let index = count.load(ordering: .relaxed)
      guard index < Self.maximumCalls else { return nil }
      let call = GroupCall(index: index)
      unsafe slots[index] = unsafe Unmanaged.passRetained(call)
      count.store(index + 1, ordering: .releasing)
      return call
    }
  }

  /// The number of calls that have not ended.
  var underWay: Int { free.withLock { free in count.load(ordering: .relaxed) - free.count } }

  /// Whether all processors have work. Most requests have two calls, one for each kind of stage.
  package var isCrowded: Bool { underWay > 2 * Self.processors }

  private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// Makes the handle of a call stale. A later call may use the object.
  func giveBack(_ call: GroupCall) {
    call.reset()
    free.withLock { $0.append(call) }
  }

  /// The call of a handle; nil if it is stale. For functions that any thread may call.
  package func find(_ handle: crb_call) -> GroupCall? {
    guard let call = call(at: Int(handle >> 32) - 1),
      call.generation.load(ordering: .acquiring) == UInt32(truncatingIfNeeded: handle)
    else { return nil }
    return call
  }

  /// The call in a slot, of any generation.
  func call(at index: Int) -> GroupCall? { unsafe slot(index)?.takeUnretainedValue() }

  private func slot(_ index: Int) -> Unmanaged<GroupCall>? {
    guard index >= 0, index < count.load(ordering: .acquiring) else { return nil }
    return unsafe slots[index]
  }

  /// Runs an [owner] function on the call of a handle, if a hook is under way and no other thread is in one.
  package func enter(_ handle: crb_call, _ body: (GroupCall, Hook, StageBinding) -> crb_status) -> crb_status {
    // Plugins call such functions most often of all. Calls are never freed, so no reference is counted.
    guard let slot = unsafe slot(Int(handle >> 32) - 1) else { return Status.stale }
    return unsafe slot._withUnsafeGuaranteedRef { $0.enter(UInt32(truncatingIfNeeded: handle), body) }
  }
}
