package import Carabiner
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// How operations go over the wire, beside what the manifest says.
package struct WireChoice: Sendable {
  /// Whether queries are sent with GET.
  var usesGET = false
  /// Whether hashes are sent in place of documents.
  var usesPersistedQueries = false

  /// Where the WebSocket is; nil for what the manifest says.
  var webSocket: String?
  /// What is spoken over it; nil for what the manifest says.
  var webSocketProtocol: WebSocketProtocol?
  /// A file of certificates to trust; nil for what the manifest or the environment says.
  var certificateAuthorityFile: String?

  package init(
    usesGET: Bool = false, usesPersistedQueries: Bool = false, webSocket: String? = nil,
    webSocketProtocol: WebSocketProtocol? = nil, certificateAuthorityFile: String? = nil
  ) {
    self.usesGET = usesGET
    self.usesPersistedQueries = usesPersistedQueries
    self.webSocket = webSocket
    self.webSocketProtocol = webSocketProtocol
    self.certificateAuthorityFile = certificateAuthorityFile
  }

  /// The file of certificates to trust that the environment names for every program that uses OpenSSL; nil for the system's.
  package static func environmentAuthorityFile(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Throws: A usage error if a protocol is chosen and there is no WebSocket.
  func applied(
    to manifest: Manifest, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Manifest {
    var manifest = manifest
    manifest.settings.certificateAuthorityFile =
      certificateAuthorityFile ?? manifest.settings.certificateAuthorityFile
      ?? Self.environmentAuthorityFile(environment)
    if let webSocket {
      var settings = manifest.settings.webSocket ?? Manifest.WebSocket(url: webSocket)
      settings.url = webSocket
      manifest.settings.webSocket = settings
    }
    if let webSocketProtocol {
      guard manifest.settings.webSocket != nil else {
        throw ServerError.invalid(
          "--websocket-protocol needs a WebSocket; give --websocket URL, or settings: {websocket: …} in the manifest")
      }
      manifest.settings.webSocket?.webSocketProtocol = webSocketProtocol
    }
    if usesGET { manifest.settings.usesGETForQueries = true }
    if usesPersistedQueries { manifest.persistedQueries.isEnabled = true }
    return manifest
  }
}
