internal import Synchronization

/// The counters of a store in Redis since its start.
final class StoreCounters: Sendable {
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

  let readTimes = ReadTimes()
  private let malformed = Atomic<Int>(0)
  private let exhausted = Atomic<Int>(0)
  private let sent = Atomic<Int>(0)
  private let received = Atomic<Int>(0)
  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)
  private let dropped = Mutex<[DropReason: Int]>([:])

  func countMalformed() { malformed.add(1, ordering: .relaxed) }
  func countExhausted() { exhausted.add(1, ordering: .relaxed) }
  func countSent() { sent.add(1, ordering: .relaxed) }
  func countReceived() { received.add(1, ordering: .relaxed) }

  func countNear(hits: Int, misses: Int) {
    self.hits.add(hits, ordering: .relaxed)
    self.misses.add(misses, ordering: .relaxed)
  }

  func drop(_ writes: Int, _ reason: DropReason) { dropped.withLock { $0[reason, default: 0] += writes } }

  /// The values of Redis that were not valid.
  var malformedValues: Int { malformed.load(ordering: .relaxed) }
  /// Reads that had no answer within their budget.
  var exhaustedBudgets: Int { exhausted.load(ordering: .relaxed) }
  /// Messages to other nodes, and from them.
  var sentInvalidations: Int { sent.load(ordering: .relaxed) }
  var receivedInvalidations: Int { received.load(ordering: .relaxed) }
  /// Reads of records that the near cache answered completely, and all other ones.
  var nearHits: Int { hits.load(ordering: .relaxed) }
  var nearMisses: Int { misses.load(ordering: .relaxed) }
  /// The dropped writes, by the reason.
  var drops: [DropReason: Int] { dropped.withLock { $0 } }
}
