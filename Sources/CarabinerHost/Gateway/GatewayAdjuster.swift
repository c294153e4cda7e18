internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerRedis
internal import Dispatch
internal import Logging
internal import NIOPosix
internal import Synchronization

/// Applies the settings of each new generation to a running gateway: its listeners, and its rules for clients.
final class GatewayAdjuster: ManifestFollower {
  /// The address if neither a flag nor the manifest names one.
  private static let usualAddress = "127.0.0.1:4000"

  /// The longest wait for the connection of a new store that gateways share. The store is used even if it is not connected then.
  private static let connectTime = Duration.seconds(2)

  private let configuration: Gateway.Configuration
  private let group: MultiThreadedEventLoopGroup
  private let operations: OperationService
  private let unsent: UnsentTotal
  private let certificates: Certificates
  private let metrics: ServerMetrics
  private let logger: Logger
  private let effective: Mutex<EffectiveSettings>
  private let shared = Mutex<SharedUse?>(nil)
  /// The listeners that flags name; nil if the manifest names them.
  private let placesOfFlags: [ListenerPlace]?
  /// The listeners of `--metrics`.
  private let metricsPlaces: [ListenerPlace]

  private var listeners: Listeners { metrics.listeners }

  init(
    _ configuration: Gateway.Configuration, _ effective: EffectiveSettings, hasListeners: Bool,
    group: MultiThreadedEventLoopGroup,
    operations: OperationService, certificates: Certificates, metrics: ServerMetrics, logger: Logger
  ) throws {
    self.configuration = configuration
    self.effective = Mutex(effective)
    self.group = group
    self.operations = operations
    self.certificates = certificates
    self.metrics = metrics
    self.logger = logger
    unsent = metrics.unsent
    metricsPlaces = try ListenerPlace.at(configuration.metricsAddresses, configuration)
    placesOfFlags = try ListenerPlace.ofFlags(configuration, hasListeners)
  }

  /// The current settings.
  var settings: [EffectiveSetting] {
    let settings = effective.withLock(\.self)
    let names = listeners.clients.filter { $0.roles != .metrics || placesOfFlags == nil }.map(\.name)
    return [
      EffectiveSetting(
        name: "serve/listeners", value: "[\(names.joined(separator: ", "))]",
        source: placesOfFlags != nil ? .flag : settings.listeners != nil ? .manifest : .default)
    ] + settings.list
  }

  func refresh() { certificates.refresh() }

  func prepare(_ manifest: Manifest) throws -> any PreparedChange {
    let result = Mutex<Result<GatewayChange, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    // The caller is the queue for reloads, which may block.
    Task {
      let change: Result<GatewayChange, any Error>
      do { change = .success(try await prepared(manifest)) } catch { change = .failure(error) }
      result.withLock { $0 = change }
      isDone.signal()
    }
    isDone.wait()
    guard let change = result.withLock(\.self) else { throw ServerError(.shutDown, "the listeners cannot be prepared") }
    return try change.get()
  }

  /// Binds the new listeners of a manifest, and reads their certificates.
  ///
  /// - Throws: ``ServerError`` for a certificate that cannot be used, and an address at which this process cannot listen.
  func prepared(_ manifest: Manifest) async throws -> GatewayChange {
    for warning in manifest.placed(manifest.gatewayWarnings) { logger.warning("\(warning)") }
    let next = EffectiveSettings(configuration, manifest, logger)
    var change = GatewayChange(adjuster: self, next: next)
    change.shared = try SharedUse.of(manifest, next.limits.rate, replacing: shared.withLock(\.self))
    // Without this wait, mutations with a key would be refused until the store is connected.
    await change.shared?.state.store.connected(within: Self.connectTime)
    // Several listeners may have the same name, with port 0. Each of them is kept once.
    var known = listeners.clients
    do {
      for plan in try plans(next) {
        let settings = try settings(of: plan, &change.certificates)
        if let index = known.firstIndex(where: { $0.requestedName == plan.place.name }) {
          let server = known.remove(at: index)
          change.servers.append(.init(server: server, settings: settings, isNew: false))
        } else {
          let server = try await GatewayServer(
            plan.place.address, as: plan.place.identity, group: group, settings, settings: operations.settings, accepts: false,
            unsent: unsent)
          change.servers.append(.init(server: server, settings: settings, isNew: true))
        }
      }
    } catch {
      await change.close()
      if let error = error as? GatewayError { throw ServerError(.cannotListen, "\(error)", cause: error) }
      throw error
    }
    return change
  }

  /// Puts a change into effect.
  ///
  /// - Parameter accepts: Whether new listeners accept connections at once.
  func adopt(_ change: GatewayChange, accepts: Bool = true) {
    let next = change.next
    effective.withLock { $0 = next }
    shared.withLock { $0 = change.shared }
    metrics.host.shared.set(change.shared?.state.store)
    operations.set(next.gateway(sharing: change.shared?.state, replacing: operations.settings.value))
    unsent.set(next.limits)
    certificates.keep(change.certificates)
    for entry in change.servers where !entry.isNew { entry.server.set(entry.settings) }
    let removed = listeners.replace(change.servers.map(\.server))
    guard accepts else { return }
    let (added, drain) = (change.servers.filter(\.isNew).map(\.server), configuration.drainTime)
    Task { for server in added { await server.beginAccepting() } }
    for server in removed {
      logger.notice("a listener is removed", metadata: ["address": "\(server.name)"])
      Task { [listeners] in
        await server.shutDown(within: drain)
        listeners.ended(server)
      }
    }
    for server in added { logger.notice("a listener is added", metadata: ["address": "\(server.name)"]) }
  }

  // MARK: Plans

  private func plans(_ settings: EffectiveSettings) throws -> [ListenerPlan] {
    let takesHTTP2 = settings.limits.takesHTTP2
    let main: [ListenerPlan]
    if let placesOfFlags {
      main = placesOfFlags.map { ListenerPlan($0, configuration, takesHTTP2: takesHTTP2) }
    } else if let listeners = settings.listeners {
      main = try listeners.map { listener in
        ListenerPlan(
          listener, ListenerPlace(try ListenerPlace.address(listener.address), configuration.inheritance), configuration.flags,
          takesHTTP2: takesHTTP2)
      }
    } else {
      let place = ListenerPlace(try ListenerPlace.address(Self.usualAddress), configuration.inheritance)
      main = [ListenerPlan(place, configuration, takesHTTP2: takesHTTP2)]
    }
    return main + metricsPlaces.map { ListenerPlan(metrics: $0) }
  }

  private func settings(
    of plan: ListenerPlan, _ used: inout [Certificates.Identity: ServerCertificate]
  ) throws -> ListenerSettings {
    let handler: any RequestHandler =
      plan.roles == .usual ? operations : RoleService(roles: plan.roles, operations: operations, metrics: metrics)
    var settings = ListenerSettings(handler: handler)
    for identity in plan.certificates {
      let certificate = try used[identity] ?? certificates.certificate(identity)
      used[identity] = certificate
      settings.certificates.append(certificate)
    }
    settings.takesHTTP2 = plan.takesHTTP2
    settings.needsProxyHeader = plan.needsProxyHeader
    settings.roles = plan.roles
    return settings
  }
}
