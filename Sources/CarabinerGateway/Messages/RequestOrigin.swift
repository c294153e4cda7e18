/// Where a request comes from.
package struct RequestOrigin: Sendable, Hashable {
  /// The IP address of the client, without the port. Behind a trusted proxy it is the address that the proxy reports.
  package let client: String
  /// The IP address at the other end of the connection.
  let peer: String
  /// Whether the peer is a trusted proxy, so that its forwarded fields are used.
  let isPeerTrusted: Bool
  /// Whether the connection uses TLS.
  let isSecure: Bool

  init(client: String, peer: String, isPeerTrusted: Bool, isSecure: Bool) {
    self.client = client
    self.peer = peer
    self.isPeerTrusted = isPeerTrusted
    self.isSecure = isSecure
  }

  /// A request of a client that is connected directly.
  init(client: String, isSecure: Bool = false) {
    self.init(client: client, peer: client, isPeerTrusted: false, isSecure: isSecure)
  }
}
