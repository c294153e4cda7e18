/// A client message of GraphQL over WebSocket. Payloads are JSON texts, which are sent unchanged.
package enum ClientMessage: Sendable, Hashable {
  /// Begins the connection.
  case initialise(payload: [UInt8]?)
  /// Starts an operation.
  case subscribe(id: String, payload: [UInt8])
  /// Ends an operation.
  case complete(id: String)
  /// A ping. The answer carries its payload.
  case ping(payload: [UInt8]?)
  /// The answer to a ping.
  case pong(payload: [UInt8]?)
  /// Ends the connection.
  case terminate

  /// The text of the message; nil if the protocol has no such message.
  package func text(_ dialect: WebSocketProtocol) -> [UInt8]? {
    switch (self, dialect) {
    case (.initialise(let payload), _): Self.text("connection_init", payload: payload)
    case (.subscribe(let id, let payload), .graphQLTransportWS): Self.text("subscribe", id: id, payload: payload)
    case (.subscribe(let id, let payload), .graphQLWS): Self.text("start", id: id, payload: payload)
    case (.complete(let id), .graphQLTransportWS): Self.text("complete", id: id)
    case (.complete(let id), .graphQLWS): Self.text("stop", id: id)
    case (.ping(let payload), .graphQLTransportWS): Self.text("ping", payload: payload)
    case (.pong(let payload), .graphQLTransportWS): Self.text("pong", payload: payload)
    case (.terminate, .graphQLWS): Self.text("connection_terminate")
    case (.ping, .graphQLWS), (.pong, .graphQLWS), (.terminate, .graphQLTransportWS): nil
    }
  }

  private static func text(_ type: String, id: String? = nil, payload: [UInt8]? = nil) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((payload?.count ?? 0) + 64)
    text.append(contentsOf: "{".utf8)
    if let id {
      text.append(contentsOf: #""id":"#.utf8)
      JSONWriter.appendString(id, to: &text)
      text.append(UInt8(ascii: ","))
    }
    if let payload {
      text.append(contentsOf: #""payload":"#.utf8)
      text.append(contentsOf: payload)
      text.append(UInt8(ascii: ","))
    }
    text.append(contentsOf: #""type":""#.utf8)
    text.append(contentsOf: type.utf8)
    text.append(contentsOf: #""}"#.utf8)
    return text
  }
}
