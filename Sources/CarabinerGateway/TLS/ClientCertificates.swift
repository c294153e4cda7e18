/// The certificates that a listener asks its TLS clients for.
package struct ClientCertificates: Sendable, Hashable {
  /// The path of the authorities, in PEM.
  package var authorities: String
  /// Whether a client without a certificate is refused.
  package var areRequired: Bool

  package init(authorities: String, areRequired: Bool) {
    self.authorities = authorities
    self.areRequired = areRequired
  }
}
