internal import Carabiner
package import CarabinerWire

extension Manifest {
  /// The WebSocket for subscriptions.
  package struct WebSocket: Sendable, Hashable {
    /// The URL of the server, `ws` or `wss`; may contain references.
    package var url: String
    /// The subprotocol.
    package var webSocketProtocol = WebSocketProtocol.graphQLTransportWS
    /// The payload of `connection_init`; may contain references. Nil for none.
    package var connectionInit: JSONValue?
    package var acknowledgementTimeout = Duration.seconds(10)
    /// The time after the last message from the server until the client sends a ping; nil for never.
    package var pingInterval: Duration?
    /// The largest message from the server in bytes.
    package var maximumMessageBytes = 64 << 20
    /// The attempts to open a lost connection again before its operations fail.
    package var reconnects = WebSocketReconnection.defaultMaximumAttempts

    /// A WebSocket to `url` with default settings.
    package init(url: String) { self.url = url }

    static let pointer = JSONPointer().appending("settings").appending("websocket")
  }

  /// The URL of the WebSocket with its references resolved; nil if the manifest has no WebSocket.
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

  /// The payload of `connection_init` with its references resolved; nil for none.
  ///
  /// - Throws: ``ManifestError`` with the reference that cannot be resolved.
  package func resolvedConnectionInit(_ secrets: SecretReferences) throws -> JSONObject? {
    guard let payload = settings.webSocket?.connectionInit else { return nil }
    do throws(ManifestProblem) {
      return try secrets.resolve(payload, at: WebSocket.pointer.appending("connection-init")).object
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }
}
