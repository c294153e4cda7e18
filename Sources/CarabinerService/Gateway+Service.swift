public import CarabinerHost
public import ServiceLifecycle

/// A gateway in a `ServiceGroup`, beside the other services of a program.
extension Gateway: Service {
  /// Serves until the service group shuts down, or the task is cancelled.
  ///
  /// After a graceful shutdown begins, requests are served for ``Configuration/lameDuckTime``. Then operations in progress have
  /// ``Configuration/drainTime`` to finish. Cancellation closes all connections at once.
  ///
  /// - Throws: ``ServerError`` if the gateway cannot listen, or a value of the configuration cannot be used.
  public func run() async throws { try await run { try await gracefulShutdown() } }
}
