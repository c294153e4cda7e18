internal import Synchronization

/// The counters of a store in Redis since its start.
final class StoreCounters: Sendable {
  private let malformed = Atomic<Int>(0)
  private let dropped = Mutex<[DropReason: Int]>([:])

  /// Why a write was not sent.
  enum DropReason: String, Sendable, CaseIterable {
    /// The queue was full.
    case full
    /// It waited too long.
    case late
    /// There was no connection, or the circuit was open.
    case unavailable
    /// Redis is out of memory.
    case memory
    /// Redis refused it for another reason.
    case refused
  }

  func countMalformed() { malformed.add(1, ordering: .relaxed) }

  /// The values of Redis that were not valid.
  var malformedValues: Int { malformed.load(ordering: .relaxed) }

  func drop(_ writes: Int, _ reason: DropReason) { dropped.withLock { $0[reason, default: 0] += writes } }

  /// The dropped writes, by the reason.
  var drops: [DropReason: Int] { dropped.withLock { $0 } }
}
