internal import Logging
internal import Synchronization

/// Logs operations that are not in the list, each once a minute.
final class UnlistedOperations: Sendable {
  private struct State {
    /// When each operation was logged last, by the first digits of its hash.
    var times: [String: ContinuousClock.Instant] = [:]
    var lastCleaning: ContinuousClock.Instant
  }

  /// The number of operations that are remembered. Further ones are not logged.
  static let maximumHashes = 1000
  /// The time between two lines about the same operation.
  static let interval = Duration.seconds(60)
  /// The time between two searches for entries that are older than ``interval``.
  private static let cleaningInterval = Duration.seconds(1)

  private let logger: Logger
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state: Mutex<State>

  init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.logger = logger
    self.now = now
    state = Mutex(State(lastCleaning: now()))
  }

  /// Logs an operation, unless a line about it is less than a minute old.
  func note(_ hash: String) {
    let now = now()
    let isDue = state.withLock { state in
      if let last = state.times[hash] {
        guard now - last >= Self.interval else { return false }
      } else if state.times.count >= Self.maximumHashes {
        guard now - state.lastCleaning >= Self.cleaningInterval else { return false }
        state.lastCleaning = now
        state.times = state.times.filter { now - $0.value < Self.interval }
        guard state.times.count < Self.maximumHashes else { return false }
      }
      state.times[hash] = now
      return true
    }
    guard isDue else { return }
    logger.warning("an operation is not in the list (serve.operations.allow)", metadata: ["sha256": .string(hash)])
  }
}
