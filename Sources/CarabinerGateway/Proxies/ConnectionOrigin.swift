internal import Carabiner
internal import CarabinerWire

/// Where a connection comes from.
struct ConnectionOrigin: Sendable {
  /// Whether the connection uses TLS.
  var isSecure = false
  /// The address of the client in the header of the PROXY protocol; nil without one.
  var proxied: String?
  /// The IP address at the other end of the connection, without the port.
  private(set) var peer = ""
  private var parsedPeer: IPAddress?
  /// The settings that trust the peer as a proxy; nil if it is not trusted.
  private var trusting: GatewaySettings?

  /// - Parameter proxied: The address of the client in the header of the PROXY protocol; nil without one.
  init(proxied: String? = nil) { self.proxied = proxied }

  /// Sets the address at the other end. It is known when the connection is active.
  mutating func set(peer: String, _ settings: GatewaySettings) {
    self.peer = peer
    parsedPeer = IPAddress(peer[...])
    renew(settings)
  }

  /// Decides again whether the peer is a trusted proxy.
  mutating func renew(_ settings: GatewaySettings) {
    let isTrusted = proxied == nil && parsedPeer.map { settings.trusts($0) } ?? false
    trusting = isTrusted ? settings : nil
  }

  /// The origin of a request.
  func origin(of head: RequestHead) -> RequestOrigin {
    if let proxied { return RequestOrigin(client: proxied, isSecure: isSecure) }
    guard let trusting else { return RequestOrigin(client: peer, isSecure: isSecure) }
    let client = ForwardedFor.client(head.headers.values(for: ForwardedFor.field)) { trusting.trusts($0) } ?? peer
    return RequestOrigin(client: client, peer: peer, isPeerTrusted: true, isSecure: isSecure)
  }
}
