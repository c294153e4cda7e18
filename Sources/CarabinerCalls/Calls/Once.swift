internal import Synchronization

/// Lets only the first of several callers continue.
final class Once: Sendable {
  private let taken = Atomic<Bool>(false)

  /// Whether this is the first call.
  func first() -> Bool { !taken.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether there was a call.
  var isTaken: Bool { taken.load(ordering: .acquiring) }
}
