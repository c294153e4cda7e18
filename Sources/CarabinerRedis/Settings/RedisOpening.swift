internal import CarabinerRESP
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// The settings of connections, and their TLS context, which is made once because that reads files.
final class RedisOpening: Sendable {
  let settings: RedisSettings
  private let context: NIOSSLContext?

  /// - Throws: ``RedisError`` with code `invalidSettings`.
  init(_ settings: RedisSettings) throws(RedisError) {
    try settings.check()
    self.settings = settings
    context = settings.urls.contains(where: \.usesTLS) ? try Self.context(settings) : nil
  }

  private static func context(_ settings: RedisSettings) throws(RedisError) -> NIOSSLContext {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let file = settings.authorityFile {
      tls.trustRoots = .certificates(try reading("ca-file", file) { try NIOSSLCertificate.fromPEMFile(file) })
    }
    if let file = settings.certificateFile, let keyFile = settings.keyFile {
      tls.certificateChain = try reading("certificate", file) { try NIOSSLCertificate.fromPEMFile(file).map { .certificate($0) } }
      tls.privateKey = .privateKey(try reading("key", keyFile) { try NIOSSLPrivateKey(file: keyFile, format: .pem) })
    }
    return try reading("certificate and key", settings.certificateFile ?? "") { try NIOSSLContext(configuration: tls) }
  }

  private static func reading<Value>(_ key: String, _ file: String, _ body: () throws -> Value) throws(RedisError) -> Value {
    do {
      return try body()
    } catch {
      throw RedisError(
        .invalidSettings, "\(key) \(file) cannot be read: \(error); check that it is a PEM file and that both belong together")
    }
  }

  /// The TLS handler of a connection; nil for one without TLS.
  func tlsHandler(_ server: RedisURL) throws -> NIOSSLClientHandler? {
    guard server.usesTLS, let context else { return nil }
    return try NIOSSLClientHandler(context: context, serverHostname: server.isAddress ? nil : server.host)
  }

  // MARK: Failures

  /// The error for a failure to open a connection, or to keep it.
  ///
  /// - Parameter certificate: The server's certificate, if it came.
  func failure(of error: any Error, _ server: RedisURL, certificate: NIOSSLCertificate?) -> RedisError {
    switch error {
    case let error as RedisError: error
    case let error as NIOConnectionError:
      RedisError(
        .cannotConnect,
        error.connectionErrors.isEmpty
          ? "the host of \(server) has no address; check its name"
          : "nothing accepts connections at \(server) (\(Self.reasons(error))); check that Redis is running")
    case ChannelError.connectTimeout: RedisError(.cannotConnect, "\(server) did not answer in time; check that it is running")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: tlsFailure(error, server, certificate)
    default: RedisError(.connectionLost, "the connection to \(server) was lost: \(Self.text(of: error))")
    }
  }

  private static func reasons(_ error: NIOConnectionError) -> String {
    Set(error.connectionErrors.map { text(of: $0.error) }).sorted().joined(separator: "; ")
  }

  private static func text(of error: any Error) -> String {
    (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }

  private func tlsFailure(_ error: any Error, _ server: RedisURL, _ certificate: NIOSSLCertificate?) -> RedisError {
    let text = "\(error)"
    let advice =
      if text.contains("CERTIFICATE_VERIFY_FAILED") {
        switch certificate.map({ (time(nil) > $0.notValidAfter, time(nil) < $0.notValidBefore) }) {
        case (true, _)?: "the certificate of the server has expired; renew it"
        case (_, true)?: "the certificate of the server is not valid yet; check the clocks of both machines"
        default: "the certificate of the server is not trusted; set ca-file to its certificate authority"
        }
      } else if text.contains("failedToValidateHostname") || text.contains("unableToValidateCertificate") {
        "the certificate of the server is for another host; use a host name of the certificate"
      } else {
        "check that the server uses TLS on this port, and whether it needs a certificate of the client"
      }
    return RedisError(.tls, "no TLS connection to \(server): \(advice) (\(text.prefix(200)))")
  }
}
