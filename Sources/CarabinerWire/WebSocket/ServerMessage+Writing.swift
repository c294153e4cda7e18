extension ServerMessage {
  /// The server is ready for operations.
  package static let acknowledgement = Array(#"{"type":"connection_ack"}"#.utf8)
  /// The server answers a ping.
  ///
  /// - Parameter payload: That of the ping, as a JSON text; nil if it had none.
  package static func pong(payload: [UInt8]?) -> [UInt8] {
    guard let payload else { return Array(#"{"type":"pong"}"#.utf8) }
    return Array(#"{"type":"pong","payload":"#.utf8) + payload + [UInt8(ascii: "}")]
  }

  /// A sign of life of a server, in the older protocol.
  package static let keepAlive = Array(#"{"type":"ka"}"#.utf8)

  /// The server refuses the connection, in the older protocol.
  package static func refusal(_ message: String) -> [UInt8] {
    JSONValue.object(["type": "connection_error", "payload": ["message": .string(message)]]).serialized()
  }

  /// A result of an operation.
  ///
  /// - Parameter payload: A response, as a JSON text.
  package static func next(
    id: String, payload: some Collection<UInt8>, _ dialect: WebSocketProtocol = .graphQLTransportWS
  ) -> [UInt8] {
    text(dialect == .graphQLWS ? "data" : "next", id: id, payload: payload)
  }

  /// An operation ended with errors. The older protocol has only one, so its message has the first.
  ///
  /// - Parameter errors: A list of errors, as a JSON text.
  package static func errors(
    id: String, _ errors: some Collection<UInt8>, _ dialect: WebSocketProtocol = .graphQLTransportWS
  ) -> [UInt8] {
    guard dialect == .graphQLWS, let first = (try? JSONValue(parsing: Array(errors)))?[0] else {
      return text("error", id: id, payload: errors)
    }
    return text("error", id: id, payload: first.serialized())
  }

  /// An operation ended.
  package static func complete(id: String) -> [UInt8] {
    var text = Array(#"{"type":"complete","id":"#.utf8)
    JSONWriter.appendString(id, to: &text)
    text.append(UInt8(ascii: "}"))
    return text
  }

  private static func text(_ type: String, id: String, payload: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(payload.count + id.utf8.count + 48)
    text.append(contentsOf: #"{"type":""#.utf8)
    text.append(contentsOf: type.utf8)
    text.append(contentsOf: #"","id":"#.utf8)
    JSONWriter.appendString(id, to: &text)
    text.append(contentsOf: #","payload":"#.utf8)
    text.append(contentsOf: payload)
    text.append(UInt8(ascii: "}"))
    return text
  }
}
