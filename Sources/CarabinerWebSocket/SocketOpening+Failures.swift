internal import Carabiner
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

extension SocketOpening {
  /// What an error of the network means for whoever wanted a connection.
  func failure(of error: any Error) -> WebSocketError {
    switch error {
    case let error as WebSocketError: error
    case let error as NIOConnectionError: connectFailure(error)
    case ChannelError.connectTimeout(let time):
      self.error(
        .connectTimeout,
        "nobody answered within \(time.nanoseconds / 1_000_000) ms; find out whether the server is up, or raise the connect timeout"
      )
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: tlsFailure(error)
    case is HTTPParserError:
      self.error(.invalidUpgrade, "the server's answer to the handshake is not HTTP (\(error)); check host and port")
    default:
      self.error(.cannotConnect, "no connection came about: \(error); find out whether the server is up")
    }
  }

  private func connectFailure(_ error: NIOConnectionError) -> WebSocketError {
    guard !error.connectionErrors.isEmpty else {
      return self.error(.cannotConnect, "the host \(error.host) has no address; check its name")
    }
    let reasons = Set(error.connectionErrors.map { "\($0.error)" }).sorted().joined(separator: "; ")
    return self.error(
      .cannotConnect, "nobody accepts connections at \(error.host):\(error.port) (\(reasons)); find out whether the server is up")
  }

  private func tlsFailure(_ error: any Error) -> WebSocketError {
    let text = "\(error)"
    let advice =
      if text.contains("CERTIFICATE_VERIFY_FAILED") {
        "the server's certificate is not trusted; name its authority with ca-file"
      } else if text.contains("failedToValidateHostname") || text.contains("unableToValidateCertificate") {
        "the server's certificate is for another host; use the name it is for"
      } else {
        "check that the server speaks TLS at this port"
      }
    return self.error(.tls, "no TLS connection came about: \(advice) (\(text.prefix(300)))")
  }
}
