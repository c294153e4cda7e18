internal import Synchronization

/// Ends of leases that Redis did not take at once, and that are tried again for as long as a lease lasts.
final class LateEndings: Sendable {
  /// The most ends that are tried again at a time, and the size of their answers. Without one, the lease ends by itself and the end of
  /// its mutation is not known.
  static let maximum = 256
  static let maximumBytes = 16 << 20
  private static let interval = Duration.seconds(1)
  private static let attempts = 60

  private let waiting = Mutex((count: 0, bytes: 0))

  /// Tries an end again until it succeeds.
  ///
  /// - Parameters:
  ///   - bytes: The size of what it keeps.
  ///   - attempt: Returns whether it succeeded.
  func add(bytes: Int = 0, _ attempt: @escaping @Sendable () async -> Bool) {
    let hasRoom = waiting.withLock { waiting in
      guard waiting.count < Self.maximum, waiting.bytes + bytes <= Self.maximumBytes else { return false }
      waiting = (waiting.count + 1, waiting.bytes + bytes)
      return true
    }
    guard hasRoom else { return }
    Task { [self] in
      for _ in 0..<Self.attempts {
        try? await Task.sleep(for: Self.interval)
        if await attempt() { break }
      }
      waiting.withLock { $0 = ($0.count - 1, $0.bytes - bytes) }
    }
  }
}
