internal import CarabinerGateway

/// The prepared settings of a gateway. New listeners are bound, and accept no connection yet.
struct GatewayChange: PreparedChange {
  /// A listener that the gateway has after the change.
  struct Entry: Sendable {
    let server: GatewayServer
    let settings: ListenerSettings
    let isNew: Bool
  }

  let adjuster: GatewayAdjuster
  let next: EffectiveSettings
  var servers: [Entry] = []
  var shared: SharedUse?
  var certificates: [Certificates.Identity: ServerCertificate] = [:]

  init(adjuster: GatewayAdjuster, next: EffectiveSettings) {
    self.adjuster = adjuster
    self.next = next
  }

  func commit() { adjuster.adopt(self) }

  func discard() {
    Task { await close() }
  }

  /// Closes the new listeners.
  func close() async {
    for entry in servers where entry.isNew { await entry.server.shutDown(within: .zero) }
  }
}
