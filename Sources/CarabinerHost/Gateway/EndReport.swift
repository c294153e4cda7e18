internal import CarabinerGateway
internal import CarabinerManifest
internal import Logging

/// Reports the steps of a gateway's end, at every log level and to the service manager.
struct EndReport: Sendable {
  /// A step of the end. Its raw value is its number.
  enum Step: Int, Sendable {
    case notReady = 1
    case lameDuck, closing, waiting, over

    static let count = 5
  }

  /// The interval of reports within a step.
  static let interval = Duration.seconds(5)
  /// The time that the service manager waits beyond the next expected report.
  static let margin = Duration.seconds(10)

  /// The drain time.
  let drain: Duration
  let operations: OperationService
  let connectionCount: @Sendable () -> Int
  let logger: Logger
  /// Called with each report and the longest time until the next one.
  let notify: (@Sendable (_ status: String, _ time: Duration) -> Void)?

  init(
    drain: Duration, operations: OperationService, connectionCount: @escaping @Sendable () -> Int, logger: Logger,
    notify: (@Sendable (_ status: String, _ time: Duration) -> Void)?
  ) {
    self.drain = drain
    self.operations = operations
    self.connectionCount = connectionCount
    var logger = logger
    logger.logLevel = min(logger.logLevel, .notice)
    self.logger = logger
    self.notify = notify
  }

  /// Reports the beginning of a step, or its progress.
  func write(_ step: Step, _ text: String) {
    let load = operations.load
    let connections = connectionCount()
    logger.notice(
      "end, step \(step.rawValue) of \(Step.count): \(text)",
      metadata: [
        "connections": "\(connections)", "operations": "\(load.running)", "waiting": "\(load.waiting)",
      ])
    notify?(
      "ending, step \(step.rawValue) of \(Step.count): \(text); \(connections) connections, \(load.running + load.waiting) operations",
      Self.interval + Self.margin)
  }

  /// Runs `body`, and reports its progress at the interval.
  func repeating(_ step: Step, _ text: String, during body: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await Task.sleep(for: Self.interval)) != nil { write(step, text) }
      }
      group.addTask { await body() }
      // The task with the reports ends only when it is cancelled, so the first task that ends is that of `body`.
      await group.next()
      group.cancelAll()
    }
  }

  /// Reports that connections are cut off, before they are closed.
  func writeCutOff(connections: Int, of listener: String) {
    let load = operations.load
    logger.notice(
      "requests are cut off: they were not finished within \(DurationText.print(drain)); allow more time with --drain",
      metadata: [
        "listener": "\(listener)", "connections": "\(connections)", "operations": "\(load.running)",
        "waiting": "\(load.waiting)",
      ])
    notify?("\(connections) connections with \(load.running + load.waiting) operations are cut off", Self.margin)
  }
}
