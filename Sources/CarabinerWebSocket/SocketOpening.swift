internal import Carabiner
internal import Foundation
internal import NIOSSL
internal import Synchronization

/// The settings for opening connections.
final class SocketOpening: Sendable {
  /// The settings that may change between two connections.
  private struct Credentials: Sendable {
    var headers: HTTPHeaders
    var payload: WebSocketTransport.ConnectionPayload?
  }

  let endpoint: WebSocketEndpoint
  let configuration: WebSocketTransport.Configuration
  private let credentials: Mutex<Credentials>
  private let tls: SocketTLS

  /// - Throws: ``WebSocketError`` if a header is malformed.
  convenience init(
    endpoint: WebSocketEndpoint, headers: HTTPHeaders, configuration: WebSocketTransport.Configuration
  ) throws(WebSocketError) {
    try self.init(endpoint, headers, configuration, SocketTLS())
  }

  private init(
    _ endpoint: WebSocketEndpoint, _ headers: HTTPHeaders, _ configuration: WebSocketTransport.Configuration, _ tls: SocketTLS
  ) throws(WebSocketError) {
    try Self.check(headers, endpoint)
    self.endpoint = endpoint
    credentials = Mutex(Credentials(headers: headers, payload: configuration.connectionPayload))
    self.configuration = configuration
    self.tls = tls
  }

  /// The same settings with other headers.
  ///
  /// - Throws: ``WebSocketError`` if a header is malformed.
  func copy(with headers: HTTPHeaders) throws(WebSocketError) -> SocketOpening {
    try SocketOpening(endpoint, headers, configuration, tls)
  }

  private static func check(_ headers: HTTPHeaders, _ endpoint: WebSocketEndpoint) throws(WebSocketError) {
    for field in headers where !field.isWellFormed {
      throw WebSocketError(
        .invalidHeader, "the header \(field.name.debugDescription) is malformed; correct its name or value",
        url: endpoint.url.absoluteString)
    }
  }

  /// The headers of the next handshake.
  var headers: HTTPHeaders { credentials.withLock { $0.headers } }
  /// Creates the payload of the next `connection_init`; nil for none.
  var connectionPayload: WebSocketTransport.ConnectionPayload? { credentials.withLock { $0.payload } }

  /// Changes the headers of later handshakes.
  ///
  /// - Throws: ``WebSocketError`` if a header is malformed.
  func setHeaders(_ headers: HTTPHeaders) throws(WebSocketError) {
    try Self.check(headers, endpoint)
    credentials.withLock { $0.headers = headers }
  }

  /// Changes the payload of later connections.
  func setConnectionPayload(_ payload: WebSocketTransport.ConnectionPayload?) { credentials.withLock { $0.payload = payload } }

  func error(_ code: WebSocketError.Code, _ message: String, statusCode: Int? = nil) -> WebSocketError {
    WebSocketError(code, message, url: endpoint.url.absoluteString, statusCode: statusCode)
  }

  /// The TLS context. It is created only once for all copies, because that reads all certificates of the system.
  ///
  /// - Throws: ``WebSocketError`` if the certificates cannot be read.
  func tlsContext() throws -> NIOSSLContext {
    try tls.context.withLock { context in
      if let context { return context }
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.applicationProtocols = ["http/1.1"]
      do {
        if let file = configuration.certificateAuthorityFile {
          tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
        }
        let made = try NIOSSLContext(configuration: tls)
        context = made
        return made
      } catch {
        throw self.error(
          .tls, "the certificates to trust cannot be read: \(error); check that ca-file is a PEM file with certificates")
      }
    }
  }
}

/// The TLS context of the connections of a transport.
private final class SocketTLS: Sendable {
  let context = Mutex<NIOSSLContext?>(nil)
}
