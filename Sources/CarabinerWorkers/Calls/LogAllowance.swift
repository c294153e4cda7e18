internal import CarabinerBridge
internal import Synchronization

/// Limits the lines and bytes that a worker writes to the log of its host in a second, by all means together. More are dropped and
/// counted (`worker.48`).
final class LogAllowance: Sendable {
  static let maximumLines = 10_000
  static let maximumBytes = 1 << 20

  private struct State {
    var second: UInt64 = 0
    var lines = 0
    var bytes = 0
  }

  private let state = Mutex(State())

  /// Takes a line of so many bytes at a time of the monotonic clock, in nanoseconds.
  ///
  /// - Returns: False if the second has too many lines or bytes.
  func admits(_ bytes: Int, at now: UInt64 = MonotonicClock.nanoseconds) -> Bool {
    state.withLock { state in
      if state.second != now / 1_000_000_000 { state = State(second: now / 1_000_000_000) }
      state.lines += 1
      state.bytes += bytes
      return state.lines <= Self.maximumLines && state.bytes <= Self.maximumBytes
    }
  }
}
