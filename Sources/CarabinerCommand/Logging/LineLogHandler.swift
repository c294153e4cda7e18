internal import Foundation
internal import Logging
internal import Synchronization

/// Writes the log to standard error or to a file, one line per event.
struct LineLogHandler: LogHandler {
  /// The label of the access log. It ignores the log level, because only `--access-log` enables it.
  static let accessLabel = "carabiner.access"

  private static let format = Mutex(LogFormat.text)
  private static let current = Mutex(LogDestinations.standardError)

  private let label: String
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  /// - Parameter level: The lowest level that is logged.
  init(label: String, level: Logger.Level) {
    self.label = label
    logLevel = label == Self.accessLabel ? .info : level
  }

  /// Sets the line format of all loggers, including existing ones.
  static func use(_ format: LogFormat) { Self.format.withLock { $0 = format } }

  /// The files of all loggers, including existing ones.
  static var destinations: LogDestinations {
    get { current.withLock(\.self) }
    set { current.withLock { $0 = newValue } }
  }

  /// Waits until the access log is written. Returns the number of lines that were dropped because the reader was too slow.
  static func finish() -> Int { destinations.access.finish() }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = metadata
    if let more = event.metadata { fields.merge(more) { $1 } }
    if let error = event.error, fields["error"] == nil { fields["error"] = "\(error)" }
    let line = Self.format.withLock(\.self).line(event.level, label, event.message.description, fields, at: Date())
    if label == Self.accessLabel {
      Self.destinations.access.append(line)
    } else {
      Self.destinations.log.write(Array(line.utf8))
    }
  }
}
