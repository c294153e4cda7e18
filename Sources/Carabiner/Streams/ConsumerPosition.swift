internal import Synchronization

/// The position of the single consumer of a stream.
final class ConsumerPosition: Sendable {
  private let next = Atomic<Int>(0)

  func advance() -> Int { next.add(1, ordering: .relaxed).oldValue }
}
