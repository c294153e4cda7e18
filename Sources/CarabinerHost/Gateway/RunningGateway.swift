internal import CarabinerBridge
internal import CarabinerGateway
internal import CarabinerManifest
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The sockets and tasks of a running gateway.
package final class RunningGateway: Sendable {
  /// The time that admin requests have to finish at the end.
  private static let adminDrainTime = Duration.seconds(1)
  /// The time that cancelled operations have to end. A plugin may hold one for longer.
  private static let cancelTime = Duration.seconds(5)

  private let host: PluginHost
  private let configuration: Gateway.Configuration
  private let operations: OperationService
  private let readiness: Readiness
  private let listeners: Listeners
  private let certificateWatch: Task<Void, Never>
  private let metricsReport: Task<Void, Never>?
  private let adjuster: GatewayAdjuster
  private let group: MultiThreadedEventLoopGroup

  /// The addresses, with the bound ports.
  package var addresses: [String] { listeners.clients.map(\.name) }

  init(_ host: PluginHost, _ configuration: Gateway.Configuration) async throws {
    try Self.check(configuration)
    let metrics = GatewayMetrics()
    let output = host.output
    let generation = host.live.current
    let effective = EffectiveSettings(configuration, generation.manifest, output.logger)
    let settings = CurrentSettings(effective.gateway())
    let readiness = Readiness()
    let operations = OperationService(
      settings: settings, runner: host.live, policies: host.live.policies, metrics: metrics,
      tracing: configuration.traces.map {
        RequestTracing($0.tracer, redact: output.redacted)
      },
      logger: output.logger, accessLogger: configuration.accessLogger, readiness: readiness, redact: output.redacted)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    let listeners = Listeners()
    let certificates = Certificates(output.logger)
    let unsent = UnsentTotal(effective.limits)
    let reported = ServerMetrics(
      host: host.metrics, operations: operations, gateway: metrics, traces: configuration.traces,
      listeners: listeners, unsent: unsent, lostLogLines: configuration.lostLogLines)
    do {
      let adjuster = try GatewayAdjuster(
        configuration, effective, hasListeners: generation.manifest.serve.listeners != nil, group: group, operations: operations,
        certificates: certificates, metrics: reported, logger: output.logger)
      self.adjuster = adjuster
      adjuster.adopt(try await adjuster.prepared(generation.manifest), accepts: false)
      try await configuration.onReady?()
      for server in listeners.clients { await server.beginAccepting() }
      let admin = AdminService(
        live: host.live, reloader: host.reloader, operations: operations, readiness: readiness,
        handOver: HandOver(listeners, readiness, configuration, host), metrics: reported, gateway: adjuster)
      if let path = configuration.adminSocket {
        let place = configuration.inheritance?.takeAdmin(at: path).map { ListenerPlace($0) } ?? ListenerPlace(.unix(path: path))
        listeners.admin = try await GatewayServer(
          place.address, as: place.identity, group: group, ListenerSettings(handler: admin), isForOwnerOnly: true)
      }
      configuration.inheritance?.closeRest()
    } catch {
      for server in listeners.clients { await server.shutDown(within: .zero) }
      try? await group.shutdownGracefully()
      throw error
    }
    self.host = host
    self.configuration = configuration
    self.operations = operations
    self.readiness = readiness
    self.listeners = listeners
    metricsReport = host.reporter?.start { reported.write(to: &$0) }
    self.group = group
    host.reloader.add(adjuster)
    // A reload may have been completed before.
    if case let current = host.live.current, current !== generation {
      adjuster.adopt(try await adjuster.prepared(current.manifest))
    }
    certificateWatch = Task { await certificates.watch() }
  }

  /// Ends the gateway in steps. It reports that it is not ready, serves requests for a time, closes its listeners, waits until operations
  /// have finished, and closes the remaining connections when the time is over.
  ///
  /// - Parameter isHandedOver: Whether a successor has taken over the listening sockets. The service manager follows the successor then.
  package func shutDown(lameDuck: Duration = .zero, within time: Duration, isHandedOver: Bool = false) async {
    readiness.end()
    let servers = listeners.clients + listeners.leaving
    let report = EndReport(
      drain: time, operations: operations, connectionCount: { [listeners] in listeners.connectionCount },
      logger: host.output.logger, notify: isHandedOver ? nil : configuration.onEnding)
    if !isHandedOver { report.write(.notReady, "/readyz answers with 503") }
    if lameDuck > .zero, !isHandedOver { await serveOn(for: lameDuck, report) }
    certificateWatch.cancel()
    host.reloader.remove(adjuster)
    report.write(.closing, "the listeners and idle connections are closed")
    let end = ContinuousClock.now + time
    let text = "requests in progress have \(DurationText.print(time)) to finish"
    report.write(.waiting, text)
    await report.repeating(.waiting, text) {
      await withTaskGroup(of: Void.self) { group in
        for server in servers {
          group.addTask { await server.shutDown(within: time) { report.writeCutOff(connections: $0, of: server.name) } }
        }
      }
    }
    // Mutations with a key continue after their clients have disconnected.
    await wait(until: end) { [operations] in operations.keyedMutations.count == 0 }
    operations.keyedMutations.cancel()
    // The operations of closed connections were cancelled, but may still use the event loops.
    await wait(until: .now + Self.cancelTime) { [operations] in operations.load.running == 0 }
    report.write(.over, "all connections are closed")
    metricsReport?.cancel()
    await metricsReport?.value
    await listeners.admin?.shutDown(within: Self.adminDrainTime)
    await configuration.traces?.shutDown()
    try? await group.shutdownGracefully()
  }

  /// Serves all requests while load balancers learn that the gateway is not ready.
  private func serveOn(for time: Duration, _ report: EndReport) async {
    for server in listeners.clients { server.beginLameDuck() }
    let text = "requests are served for \(DurationText.print(time)), and HTTP/1.1 connections are closed after their response"
    report.write(.lameDuck, text)
    await report.repeating(.lameDuck, text) { try? await Task.sleep(for: time) }
  }

  private func wait(until end: ContinuousClock.Instant, _ isOver: () -> Bool) async {
    while !isOver(), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(1)) }
  }

  private static func check(_ configuration: Gateway.Configuration) throws {
    guard ServePaths.isPath(configuration.path), !ServePaths.reserved.contains(configuration.path) else {
      throw ServerError.invalid(
        "the path of the GraphQL endpoint begins with /, has no query, and is none of \(ServePaths.reserved.joined(separator: ", ")); "
          + "it is \(configuration.path)")
    }
    guard (1...64).contains(configuration.threads) else {
      throw ServerError.invalid("a gateway has 1 to 64 threads, not \(configuration.threads)")
    }
  }
}
