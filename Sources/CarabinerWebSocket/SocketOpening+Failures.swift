internal import Carabiner
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

extension SocketOpening {
  /// The error for a failure to open a connection.
  func failure(of error: any Error) -> WebSocketError {
    switch error {
    case let error as WebSocketError: error
    case let error as NIOConnectionError: connectFailure(error)
    case ChannelError.connectTimeout(let time):
      self.error(
        .connectTimeout,
        "the server did not answer within \(time.nanoseconds / 1_000_000) ms; check that it is running, or raise the connect timeout"
      )
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: tlsFailure(error)
    case is HTTPParserError:
      self.error(.invalidUpgrade, "the server's answer to the handshake is not HTTP (\(error)); check host and port")
    default:
      self.error(.cannotConnect, "the connection failed: \(Self.text(of: error)); check that the server is running")
    }
  }

  private func connectFailure(_ error: NIOConnectionError) -> WebSocketError {
    guard !error.connectionErrors.isEmpty else {
      return self.error(.cannotConnect, "the host \(error.host) has no address; check its name")
    }
    let reasons = Set(error.connectionErrors.map { Self.text(of: $0.error) }).sorted().joined(separator: "; ")
    return self.error(
      .cannotConnect, "nothing accepts connections at \(error.host):\(error.port) (\(reasons)); check that the server is running")
  }

  /// The text of an error. NIO's description of a system error names a C function and has an unbalanced parenthesis.
  private static func text(of error: any Error) -> String {
    (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }

  private func tlsFailure(_ error: any Error) -> WebSocketError {
    let text = "\(error)"
    let advice =
      if text.contains("CERTIFICATE_VERIFY_FAILED") {
        "the certificate of the server is not trusted; set ca-file to its certificate authority"
      } else if text.contains("failedToValidateHostname") || text.contains("unableToValidateCertificate") {
        "the certificate of the server is for another host; use a host name of the certificate"
      } else {
        "check that the server uses TLS on this port"
      }
    return self.error(.tls, "the TLS handshake failed: \(advice) (\(text.prefix(300)))")
  }
}
