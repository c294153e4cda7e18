internal import Synchronization

/// Numbers the hooks of a call, from 0.
final class HookCount: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
