internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Logging

/// Reports the requests that are aborted because they did not end within the drain time.
struct CutOffReport: Sendable {
  /// The drain time.
  let drain: Duration
  let operations: OperationService
  let logger: Logger
  /// Called with the numbers of connections and operations that are cut off.
  let notify: (@Sendable (_ connections: Int, _ operations: Int) -> Void)?

  /// Logs a line at every log level, before the connections are closed.
  func write(connections: Int, of listener: String) {
    let load = operations.load
    var logger = logger
    logger.logLevel = min(logger.logLevel, .notice)
    logger.notice(
      "requests are cut off: they were not finished within \(DurationText.print(drain)); allow more time with --drain",
      metadata: [
        "listener": "\(listener)", "connections": "\(connections)", "operations": "\(load.running)",
        "waiting": "\(load.waiting)",
      ])
    notify?(connections, load.running + load.waiting)
  }
}
