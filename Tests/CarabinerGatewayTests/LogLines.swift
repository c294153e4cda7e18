import Logging
import Synchronization

/// Keeps the lines that are logged.
final class LogLines: Sendable {
  private struct Handler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
  }

  private let lines = Mutex<[String]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
  var count: Int { lines.withLock(\.count) }
  var all: [String] { lines.withLock(\.self) }
}

/// A clock that a test advances.
final class TestClock: Sendable {
  private let time = Mutex(ContinuousClock.now)

  var now: ContinuousClock.Instant { time.withLock(\.self) }

  func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}
