internal import CarabinerDigest
internal import Glibc
internal import NIOSSL

/// A certificate with its chain and key, as used for new connections.
struct CertificatePair: Sendable {
  /// The contents of the files.
  struct Contents: Sendable {
    let certificates: [UInt8]
    let key: [UInt8]
    /// The authorities of client certificates; nil for none.
    let authorities: [UInt8]?

    /// The digests of all files.
    var digest: [UInt8] { Digest.sha256(certificates) + Digest.sha256(key) + (authorities.map { Digest.sha256($0) } ?? []) }
  }

  let leaf: NIOSSLCertificate
  /// The host names of the certificate.
  let names: [CertificateName]
  let context: NIOSSLContext

  /// Parses certificates and key. The key must match the first certificate.
  init(_ contents: Contents, _ options: ServerCertificate.Options) throws {
    let certificates = try NIOSSLCertificate.fromPEMBytes(contents.certificates)
    guard let leaf = certificates.first else { throw GatewayError(.invalidCertificate, "the file contains no certificate") }
    self.leaf = leaf
    names = CertificateName.names(of: leaf)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: contents.key, format: .pem)))
    configuration.applicationProtocols = options.protocols
    configuration.minimumTLSVersion = options.minimumVersion.library
    if let clients = options.clients, let authorities = contents.authorities {
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(authorities))
      configuration.certificateVerification = clients.areRequired ? .noHostnameVerification : .optionalVerification
    }
    context = try NIOSSLContext(configuration: configuration)
  }

  /// - Throws: ``GatewayError`` if the certificate has expired, or is not valid yet.
  func requireValid(at time: time_t) throws {
    guard time <= leaf.notValidAfter else { throw GatewayError(.invalidCertificate, "the certificate has expired") }
    guard time >= leaf.notValidBefore else { throw GatewayError(.invalidCertificate, "the certificate is not valid yet") }
  }
}
