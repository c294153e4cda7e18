internal import CarabinerDigest
internal import Glibc
internal import NIOSSL

/// A certificate with its chain and key, as used for new connections.
struct CertificatePair: Sendable {
  /// The contents of the files.
  struct Contents: Sendable {
    let certificates: [UInt8]
    let key: [UInt8]

    /// The digests of both files.
    var digest: [UInt8] { Digest.sha256(certificates) + Digest.sha256(key) }
  }

  let leaf: NIOSSLCertificate
  let context: NIOSSLContext

  /// Parses certificates and key. The key must match the first certificate.
  init(_ contents: Contents, protocols: [String]) throws {
    let certificates = try NIOSSLCertificate.fromPEMBytes(contents.certificates)
    guard let leaf = certificates.first else { throw GatewayError(.invalidCertificate, "the file contains no certificate") }
    self.leaf = leaf
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: contents.key, format: .pem)))
    configuration.applicationProtocols = protocols
    configuration.minimumTLSVersion = .tlsv12
    context = try NIOSSLContext(configuration: configuration)
  }

  /// - Throws: ``GatewayError`` if the certificate has expired, or is not valid yet.
  func requireValid(at time: time_t) throws {
    guard time <= leaf.notValidAfter else { throw GatewayError(.invalidCertificate, "the certificate has expired") }
    guard time >= leaf.notValidBefore else { throw GatewayError(.invalidCertificate, "the certificate is not valid yet") }
  }
}
