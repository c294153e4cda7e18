/// The settings of a listener for new connections.
package struct ListenerSettings: Sendable {
  /// The certificates for TLS, the default one first; empty for connections without TLS.
  package var certificates: [ServerCertificate] = []
  /// Whether clients may use HTTP/2; nil for the limit of the gateway.
  package var takesHTTP2: Bool?
  /// Whether each connection begins with a header of the PROXY protocol.
  package var needsProxyHeader = false
  /// The roles of the listener, for reports. The handler decides.
  package var roles: ListenerRoles = .usual
  package var handler: any RequestHandler

  package init(handler: any RequestHandler) { self.handler = handler }

  /// Returns the certificate for a host name, or the default one.
  func certificate(for name: String?) -> ServerCertificate? {
    guard let name, certificates.count > 1 else { return certificates.first }
    return certificates.first { $0.names.contains { $0.covers(name) } } ?? certificates.first
  }
}
