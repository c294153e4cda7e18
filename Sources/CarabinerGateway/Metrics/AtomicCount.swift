internal import Synchronization

/// A counter that many threads may increment.
final class AtomicCount: Sendable {
  private let count = Atomic<UInt64>(0)

  var value: UInt64 { count.load(ordering: .relaxed) }

  func add(_ more: UInt64 = 1) { count.add(more, ordering: .relaxed) }

  /// Adds one, and returns the previous value.
  func next() -> UInt64 { count.add(1, ordering: .relaxed).oldValue }
}
