internal import Synchronization

/// How far the one consumer of a stream has come.
final class ConsumerPosition: Sendable {
  private let next = Atomic<Int>(0)

  func advance() -> Int { next.add(1, ordering: .relaxed).oldValue }
}
