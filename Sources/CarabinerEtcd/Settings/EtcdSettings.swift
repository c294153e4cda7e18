package import CarabinerCurl
package import FoundationEssentials

/// The members of etcd, the login and the limits.
package struct EtcdSettings: Sendable, Hashable {
  /// The URLs of the members without a path, 1 to 16. They are asked in this order until one answers.
  package var members: [URL]
  /// The user and the password; nil for none.
  package var login: Login?
  /// The file with the authorities of the members' certificates, in PEM; nil for those of the system.
  package var authorityFile: String?
  /// The files with the client's certificate and its chain, and with its key, in PEM; nil for none. The certificate must have an empty
  /// CN.
  package var certificateFile: String?
  package var keyFile: String?
  package var limits = EtcdLimits()

  /// A user and a password.
  package struct Login: Sendable, Hashable {
    package var user: String
    package var password: String

    package init(user: String, password: String) { (self.user, self.password) = (user, password) }
  }

  /// Creates settings for members without logins.
  package init(members: [URL]) { self.members = members }

  static let maximumMembers = 16

  /// - Throws: ``EtcdError`` with code `invalidSettings`.
  func check() throws(EtcdError) {
    guard (1...Self.maximumMembers).contains(members.count) else {
      throw EtcdError(.invalidSettings, "there are \(members.count) members of etcd; name 1 to \(Self.maximumMembers)")
    }
    guard members.allSatisfy({ ["http", "https"].contains($0.scheme) && $0.host()?.isEmpty == false && $0.user() == nil }) else {
      throw EtcdError(
        .invalidSettings,
        "a member of etcd is not a URL with http or https, a host and no user; set user and password apart from it")
    }
    guard login.map({ !$0.user.isEmpty && !$0.password.isEmpty }) != false else {
      throw EtcdError(.invalidSettings, "the user or the password for etcd is empty; set both or none")
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw EtcdError(.invalidSettings, "the certificate and the key for etcd belong together; set both or none")
    }
    guard members.allSatisfy({ $0.scheme == "https" }) || authorityFile == nil && certificateFile == nil else {
      throw EtcdError(
        .invalidSettings, "certificates are for etcds:// and all its members; change the address, or set no certificates")
    }
  }

  /// The transport for the requests.
  package var transport: CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = authorityFile
    configuration.clientCertificateFile = certificateFile
    configuration.clientKeyFile = keyFile
    configuration.connectTimeout = limits.timeout
    // Each request has its own timeout, and a watch has none.
    configuration.totalTimeout = .infinity
    // A watch is one body. The client limits its lines, and the bodies of all other answers.
    configuration.maximumBodyBytes = .max
    // A watch on the connection of other requests would share its loss with them.
    configuration.allowsHTTP2 = false
    configuration.acceptsCompression = false
    // etcd does not redirect, and the token is for etcd only.
    configuration.maximumRedirects = 0
    return configuration
  }
}
