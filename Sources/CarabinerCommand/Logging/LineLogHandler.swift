internal import Foundation
internal import Logging
internal import Synchronization

/// Writes the log to standard error, one line an event.
struct LineLogHandler: LogHandler {
  /// Who logs the requests of a gateway; it is heard at any level, because it speaks only if it was asked to.
  static let accessLabel = "carabiner.access"

  private static let format = Mutex(LogFormat.text)
  private static let writer = LineWriter(.standardError)

  private let label: String
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  /// - Parameter level: From where on it is heard.
  init(label: String, level: Logger.Level) {
    self.label = label
    logLevel = label == Self.accessLabel ? .info : level
  }

  /// Says how lines look from now on, those of loggers that are there already included.
  static func use(_ format: LogFormat) { Self.format.withLock { $0 = format } }

  /// Returns when what was said of requests is written; gives how many lines were left out because nobody read them fast enough.
  static func finish() -> Int { writer.finish() }

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
      Self.writer.append(line)
    } else {
      FileHandle.standardError.write(Data(line.utf8))
    }
  }
}
