internal import Carabiner
package import CarabinerWire

extension Manifest {
  /// Where and how subscriptions go over a WebSocket.
  package struct WebSocket: Sendable, Hashable {
    /// Where the server is, ws or wss; may hold references.
    package var url: String
    /// Which protocol is spoken.
    package var webSocketProtocol = WebSocketProtocol.graphQLTransportWS
    /// What `connection_init` carries; may hold references. Nil for nothing.
    package var connectionInit: JSONValue?
    package var acknowledgementTimeout = Duration.seconds(10)
    /// How long after the last sign of life the server is pinged; nil for never.
    package var pingInterval: Duration?
    /// How large a message of the server may be.
    package var maximumMessageBytes = 64 << 20
    /// How often a lost connection is opened again before its operations fail.
    package var reconnects = WebSocketReconnection.defaultMaximumAttempts

    /// A WebSocket to `url`, all else by default.
    package init(url: String) { self.url = url }

    static let pointer = JSONPointer().appending("settings").appending("websocket")
  }

  /// The URL of the WebSocket with its references filled in; nil if the manifest names none.
  ///
  /// - Throws: ``ManifestError`` with the reference that cannot be filled in.
  package func resolvedWebSocketURL(_ secrets: SecretReferences) throws -> SecretText? {
    guard let webSocket = settings.webSocket else { return nil }
    do throws(ManifestProblem) {
      return try secrets.secret(webSocket.url, at: WebSocket.pointer.appending("url"))
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }

  /// What `connection_init` carries, with its references filled in; nil for nothing.
  ///
  /// - Throws: ``ManifestError`` with the reference that cannot be filled in.
  package func resolvedConnectionInit(_ secrets: SecretReferences) throws -> JSONObject? {
    guard let payload = settings.webSocket?.connectionInit else { return nil }
    do throws(ManifestProblem) {
      return try secrets.resolve(payload, at: WebSocket.pointer.appending("connection-init")).object
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }
}
