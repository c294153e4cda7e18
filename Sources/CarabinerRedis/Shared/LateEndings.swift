internal import Logging
internal import Synchronization

/// Ends of leases that Redis did not take at once, and that are tried again.
final class LateEndings: Sendable {
  /// The most ends that are tried again at a time, and the size of their answers.
  static let maximum = 10_000
  static let maximumBytes = 16 << 20
  /// The delay before the first attempt, doubled for each further one, and the number of attempts. All delays together are about
  /// two minutes, longer than a lease.
  static let firstDelay = Duration.seconds(1)
  static let attempts = 7

  private let store: SharedStore
  private let waiting = Mutex((count: 0, bytes: 0, dropped: 0))

  init(_ store: SharedStore) { self.store = store }

  /// The ends that were given up. The results of their mutations are not known.
  var dropped: Int { waiting.withLock(\.dropped) }

  /// Tries an end again until it succeeds.
  ///
  /// - Parameters:
  ///   - bytes: The size of what it keeps.
  ///   - isNeeded: Whether it is an error if it never succeeds.
  ///   - attempt: Returns whether it succeeded.
  /// - Returns: False if there is no room for it.
  @discardableResult
  func add(bytes: Int = 0, isNeeded: Bool = true, _ attempt: @escaping @Sendable () async -> Bool) -> Bool {
    let hasRoom = waiting.withLock { waiting in
      guard waiting.count < Self.maximum, waiting.bytes + bytes <= Self.maximumBytes else { return false }
      (waiting.count, waiting.bytes) = (waiting.count + 1, waiting.bytes + bytes)
      return true
    }
    guard hasRoom else {
      if bytes == 0 { drop("too many wait") }
      return false
    }
    Task { [self] in
      let succeeded = await repeated(attempt)
      waiting.withLock { ($0.count, $0.bytes) = ($0.count - 1, $0.bytes - bytes) }
      if !succeeded, isNeeded { drop("Redis refused it, or did not answer") }
    }
    return true
  }

  private func repeated(_ attempt: @Sendable () async -> Bool) async -> Bool {
    var delay = Self.firstDelay
    for _ in 0..<Self.attempts {
      repeat { try? await Task.sleep(for: delay) } while !store.isAvailable
      if await attempt() { return true }
      delay *= 2
    }
    return false
  }

  private func drop(_ reason: String) {
    let isFirst = waiting.withLock { waiting in
      waiting.dropped += 1
      return waiting.dropped == 1
    }
    guard isFirst else { return }
    store.logger.error(
      "the end of a mutation with a key could not be noted in Redis: \(reason); its key stays taken; check Redis and its permissions"
    )
  }
}
