internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Logging

/// Reports the requests that a gateway cuts off because they took longer than it may take to end.
struct CutOffReport: Sendable {
  /// How long requests had.
  let drain: Duration
  let operations: OperationService

  /// Writes a line at any log level, and the service manager's status, before the connections are closed.
  func write(connections: Int, of listener: String) {
    let load = operations.load
    var logger = Logger(label: "carabiner.serve")
    logger.logLevel = .notice
    logger.notice(
      "requests are cut off: they were not finished within \(DurationText.print(drain)); allow more time with --drain",
      metadata: [
        "listener": "\(listener)", "connections": "\(connections)", "operations": "\(load.running)",
        "waiting": "\(load.waiting)",
      ])
    ServiceManager.notify("STATUS=\(connections) connections with \(load.running + load.waiting) operations are cut off")
  }
}
