internal import Synchronization

/// A number many threads add to.
final class AtomicCount: Sendable {
  private let count = Atomic<UInt64>(0)

  var value: UInt64 { count.load(ordering: .relaxed) }

  func add(_ more: UInt64 = 1) { count.add(more, ordering: .relaxed) }

  /// Adds one, and gives what it was before.
  func next() -> UInt64 { count.add(1, ordering: .relaxed).oldValue }
}
