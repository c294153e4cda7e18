internal import CarabinerBridge

/// Notices that a signal has stopped a process for some time.
struct WorkerHalt {
  private let process: Int32
  private let limit: UInt64
  /// When it was looked at last, and since when it is stopped, in nanoseconds of the monotonic clock.
  private var (seen, since): (UInt64, UInt64?) = (0, nil)

  /// The least time between two looks, in nanoseconds.
  private static let interval: UInt64 = 10_000_000

  init(of process: Int32, limit: Duration) {
    self.process = process
    self.limit = limit.inNanoseconds
  }

  /// Whether the process has been stopped for longer than the limit. False if its state cannot be read.
  mutating func isOver(at now: UInt64) -> Bool {
    guard now >= seen + Self.interval else { return false }
    seen = now
    guard ProcessGroup.state(of: process)?.letter == "T" else {
      since = nil
      return false
    }
    let start = since ?? now
    since = start
    return now - start > limit
  }
}
