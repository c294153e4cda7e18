internal import Synchronization

/// A histogram of the times of reads.
final class ReadTimes: Sendable {
  /// The upper bounds of the buckets, in nanoseconds: 100 µs to 1 s.
  static let bounds: [Int64] = [
    100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 1_000_000_000,
  ]

  private let state = Mutex((counts: [Int](repeating: 0, count: bounds.count + 1), nanoseconds: Int64(0)))

  func add(_ time: Duration) {
    let nanoseconds = max(0, Int64(time / .nanoseconds(1)))
    state.withLock { state in
      state.counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
      state.nanoseconds += nanoseconds
    }
  }

  /// The counts of the buckets, and the sum of all times in nanoseconds.
  var summary: (counts: [Int], nanoseconds: Int64) { state.withLock { $0 } }
}
