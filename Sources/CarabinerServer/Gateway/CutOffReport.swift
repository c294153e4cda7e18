internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Logging

/// Reports the requests that a gateway cuts off because they took longer than it may take to end.
struct CutOffReport: Sendable {
  /// How long requests had.
  let drain: Duration
  let operations: OperationService
  let logger: Logger
  /// Gets the number of connections and of operations that are cut off.
  let notify: (@Sendable (_ connections: Int, _ operations: Int) -> Void)?

  /// Writes a line at any log level before the connections are closed.
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
