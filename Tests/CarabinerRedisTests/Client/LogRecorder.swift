import Logging
import Synchronization

/// The lines of a logger.
final class LogRecorder: Sendable {
  private let recorded = Mutex<[(level: Logger.Level, text: String)]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

  /// Whether a line of this level has this text.
  func has(_ level: Logger.Level, _ text: String) -> Bool {
    recorded.withLock { $0.contains { $0.level == level && $0.text.contains(text) } }
  }

  var lines: [String] { recorded.withLock { $0.map { "\($0.level): \($0.text)" } } }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      recorder.recorded.withLock { $0.append((event.level, "\(event.message)")) }
    }
  }
}
