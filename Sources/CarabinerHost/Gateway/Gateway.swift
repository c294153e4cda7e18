internal import CarabinerGateway
internal import Logging
internal import UnixSignals

/// Serves GraphQL over HTTP and WebSockets, and runs the operations through the chain of a host.
///
/// ```swift
/// let host = try await PluginHost(manifest: "chain.yaml")
/// try await Gateway(host: host, configuration: .init(address: "127.0.0.1:4000")).runService()
/// ```
public final class Gateway: Sendable {
  /// The host that runs the operations. It continues after the gateway ends.
  public let host: PluginHost
  /// The configuration of the gateway.
  public let configuration: Configuration

  /// Creates a gateway over a host. It listens once it runs.
  public init(host: PluginHost, configuration: Configuration = Configuration()) {
    self.host = host
    self.configuration = configuration
  }

  /// Serves until a wait returns, or the task is cancelled.
  ///
  /// After the wait returned, requests are served for ``Configuration/lameDuckTime``. Then operations in progress have
  /// ``Configuration/drainTime`` to finish. If the wait throws, all connections are closed at once.
  ///
  /// - Parameter wait: Waits for the end. It throws when the task is cancelled.
  /// - Throws: ``ServerError`` if the gateway cannot listen, or a value of the configuration cannot be used.
  package func run(until wait: () async throws -> Void) async throws {
    let running = try await start()
    configuration.onListening?(running.addresses)
    let isGraceful = (try? await wait()) != nil
    // A new task: this one may be cancelled, and could then not wait for the connections to end.
    await Task {
      await running.shutDown(
        lameDuck: isGraceful ? configuration.lameDuckTime : .zero, within: isGraceful ? configuration.drainTime : .zero)
    }.value
  }

  /// Serves as the main job of a program: until SIGTERM or SIGINT (Ctrl-C), when operations in progress have
  /// ``Configuration/drainTime`` to finish. SIGHUP reloads the manifest. The host is shut down at the end.
  ///
  /// A program with other services runs the gateway in a `ServiceGroup`: `CarabinerService` makes it a `Service`. If the task is cancelled,
  /// all connections are closed at once.
  ///
  /// - Throws: ``ServerError`` if the gateway cannot listen, or a value of the configuration cannot be used.
  public func runService() async throws {
    let logger = host.output.logger
    let ends = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let reloads = Task { [host] in
      for await _ in await UnixSignalsSequence(trapping: .sighup) {
        do {
          _ = try await host.reload()
        } catch {
          logger.error("the manifest is refused, and the running generation continues", metadata: ["reason": "\(error)"])
        }
      }
    }
    defer { reloads.cancel() }
    let result: Result<Void, any Error>
    do {
      try await run {
        for await _ in ends { return }
        throw CancellationError()
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await host.shutDown()
    try result.get()
  }

  /// Starts to serve.
  ///
  /// - Throws: ``ServerError`` if the gateway cannot listen, if a value of the configuration cannot be used, or if the manifest is not
  ///   for GraphQL.
  package func start() async throws -> RunningGateway {
    try host.requireGraphQL("the gateway serves GraphQL; use carabiner call")
    do {
      return try await RunningGateway(host, configuration)
    } catch let error as GatewayError {
      throw ServerError(.cannotListen, "\(error)", cause: error)
    }
  }
}
