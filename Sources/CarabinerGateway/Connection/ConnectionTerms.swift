/// The limits and the origin for the requests of a connection. They change with a reload, before the next request.
struct ConnectionTerms: ~Copyable {
  private(set) var limits: GatewayLimits
  var origin: ConnectionOrigin
  /// The version of the settings that the limits come from.
  private var version: Int

  init(_ settings: CurrentSettings, _ origin: ConnectionOrigin) {
    self.origin = origin
    version = settings.version
    limits = settings.limits
  }

  /// Takes the limits of a reload since the last request.
  ///
  /// - Returns: Whether there was a reload.
  mutating func renew(_ settings: CurrentSettings) -> Bool {
    let version = settings.version
    guard version != self.version else { return false }
    self.version = version
    let current = settings.value
    limits = current.limits
    origin.renew(current)
    return true
  }
}
