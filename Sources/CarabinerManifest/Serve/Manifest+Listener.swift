extension Manifest {
  /// One entry of `serve.listeners`: an address at which a gateway accepts connections.
  package struct Listener: Sendable, Hashable {
    /// The kinds of requests that a listener serves.
    package enum Role: String, Sendable, Hashable, CaseIterable {
      case operations
      case health
      case metrics
    }

    /// Whether clients must have a certificate.
    package enum ClientCertificate: String, Sendable, Hashable, CaseIterable {
      case require
      /// A client may have no certificate. If it has one, it must be valid.
      case request
    }

    /// A version of TLS.
    package enum TLSVersion: String, Sendable, Hashable, CaseIterable {
      case v12 = "1.2"
      case v13 = "1.3"
    }

    /// The files of a certificate, both in PEM.
    package struct Certificate: Sendable, Hashable {
      package var certificate: String
      package var key: String
    }

    package struct TLS: Sendable, Hashable {
      /// The certificates, the default one first. The host name that a client asks for selects one.
      package var certificates: [Certificate] = []
      /// The file with the authorities of client certificates; nil to ask for none.
      package var clientAuthorities: String?
      package var clientCertificate = ClientCertificate.require
      package var minimumVersion = TLSVersion.v12
    }

    /// The most listeners of a gateway.
    package static let maximum = 64
    /// The most certificates of a listener.
    package static let maximumCertificates = 100

    /// `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`.
    package var address: String
    /// TLS; nil for connections without it.
    package var tls: TLS?
    /// Whether clients may use HTTP/2; nil for the limit of the gateway.
    package var takesHTTP2: Bool?
    package var roles: [Role] = [.operations, .health]
    /// Whether each connection begins with a header of the PROXY protocol.
    package var needsProxyHeader = false

    package init(address: String) { self.address = address }
  }
}
