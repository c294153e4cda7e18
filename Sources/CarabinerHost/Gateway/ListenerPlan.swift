internal import CarabinerGateway
internal import CarabinerManifest

/// A listener that a gateway is to have.
struct ListenerPlan: Sendable {
  let place: ListenerPlace
  let certificates: [Certificates.Identity]
  /// Whether clients may use HTTP/2; nil for the limit of the gateway.
  var takesHTTP2: Bool?
  var roles = ListenerRoles.usual
  var needsProxyHeader = false

  /// A listener of a flag.
  init(_ place: ListenerPlace, _ configuration: Gateway.Configuration, takesHTTP2: Bool) {
    self.place = place
    certificates = configuration.tls.map { [Self.identity(of: $0, takesHTTP2: takesHTTP2)] } ?? []
  }

  /// A listener of `--metrics`.
  init(metrics place: ListenerPlace) {
    self.place = place
    certificates = []
    roles = .metrics
  }

  /// A listener of the manifest.
  ///
  /// - Parameter takesHTTP2: Whether clients may use HTTP/2 if the listener has no such setting.
  init(_ listener: Manifest.Listener, _ place: ListenerPlace, _ flags: GatewayFlags, takesHTTP2: Bool) {
    self.place = place
    self.takesHTTP2 = flags.limits[.http2] == nil ? listener.takesHTTP2 : nil
    roles = listener.roles.reduce(into: []) { roles, role in
      for known in ListenerRoles.names where known.name == role.rawValue { roles.insert(known.role) }
    }
    needsProxyHeader = listener.needsProxyHeader
    let offersHTTP2 = self.takesHTTP2 ?? takesHTTP2
    certificates = listener.tls.map { Self.identities(of: $0, takesHTTP2: offersHTTP2) } ?? []
  }

  /// The certificates of a listener of the manifest.
  static func identities(of tls: Manifest.Listener.TLS, takesHTTP2: Bool) -> [Certificates.Identity] {
    var options = ServerCertificate.Options()
    options.protocols = protocols(takesHTTP2)
    options.minimumVersion = tls.minimumVersion == .v13 ? .v13 : .v12
    options.clients = tls.clientAuthorities.map {
      ClientCertificates(authorities: $0, areRequired: tls.clientCertificate == .require)
    }
    return tls.certificates.map {
      Certificates.Identity(files: .init(certificates: $0.certificate, key: $0.key), options: options)
    }
  }

  private static func identity(of tls: Gateway.Configuration.TLS, takesHTTP2: Bool) -> Certificates.Identity {
    var options = ServerCertificate.Options()
    options.protocols = protocols(takesHTTP2)
    return Certificates.Identity(files: .init(certificates: tls.certificates, key: tls.key), options: options)
  }

  private static func protocols(_ takesHTTP2: Bool) -> [String] { takesHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"] }
}
