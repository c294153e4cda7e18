package import Carabiner
internal import CarabinerBridge
package import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// Overrides of the manifest's transport settings.
package struct WireChoice: Sendable {
  /// Whether queries are sent with GET.
  var usesGET = false
  /// Whether hashes are sent instead of documents.
  var usesPersistedQueries = false

  /// The URL of the WebSocket; nil for that of the manifest.
  var webSocket: String?
  /// The WebSocket subprotocol; nil for that of the manifest.
  var webSocketProtocol: WebSocketProtocol?
  /// A file of trusted certificates; nil for that of the manifest or the environment.
  var certificateAuthorityFile: String?
  /// The protocol if there is no manifest.
  var protocolWithoutManifest: Manifest.CallProtocol

  package init(
    usesGET: Bool = false, usesPersistedQueries: Bool = false, webSocket: String? = nil,
    webSocketProtocol: WebSocketProtocol? = nil, certificateAuthorityFile: String? = nil,
    protocolWithoutManifest: Manifest.CallProtocol = .graphQL
  ) {
    self.protocolWithoutManifest = protocolWithoutManifest
    self.usesGET = usesGET
    self.usesPersistedQueries = usesPersistedQueries
    self.webSocket = webSocket
    self.webSocketProtocol = webSocketProtocol
    self.certificateAuthorityFile = certificateAuthorityFile
  }

  /// The file of trusted certificates in `SSL_CERT_FILE`, which programs with OpenSSL use; nil for the system's.
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
    if manifest.path.isEmpty, protocolWithoutManifest != .graphQL { manifest.callProtocol = protocolWithoutManifest }
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
