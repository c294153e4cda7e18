extension ClientMessage {
  /// Parses a message, as a server does.
  ///
  /// - Throws: ``ServerMessage/Fault``, which is used for messages of both sides.
  package init(
    reading text: Span<UInt8>, _ dialect: WebSocketProtocol = .graphQLTransportWS, limits: JSONLimits = JSONLimits()
  ) throws(ServerMessage.Fault) {
    let members: JSONMembers
    do throws(JSONError) {
      members = try JSONMembers(locating: text, limits: limits)
    } catch {
      throw .invalidJSON(error)
    }
    guard members.isObject else { throw .malformed("it is not a JSON object") }
    guard let type = ServerMessage.string(members.range(of: "type"), in: text) else {
      throw .malformed("its type is not a string")
    }
    let payload = members.range(of: "payload")
    switch (type, dialect) {
    case ("connection_init", _): self = .initialise(payload: try Self.object(payload, of: type, in: text))
    case ("ping", .graphQLTransportWS): self = .ping(payload: try Self.object(payload, of: type, in: text))
    case ("pong", .graphQLTransportWS): self = .pong(payload: try Self.object(payload, of: type, in: text))
    case ("connection_terminate", .graphQLWS): self = .terminate
    case ("subscribe", .graphQLTransportWS), ("start", .graphQLWS):
      let id = try Self.id(members, of: type, in: text)
      guard let payload = try Self.object(payload, of: type, in: text) else {
        throw .malformed("a message of type \(type) needs a payload")
      }
      self = .subscribe(id: id, payload: payload)
    case ("complete", .graphQLTransportWS), ("stop", .graphQLWS): self = .complete(id: try Self.id(members, of: type, in: text))
    default: throw .unknownType(type)
    }
  }

  private static func id(_ members: JSONMembers, of type: String, in text: Span<UInt8>) throws(ServerMessage.Fault) -> String {
    guard let id = ServerMessage.string(members.range(of: "id"), in: text), !id.isEmpty else {
      throw .malformed("a message of type \(type) has no id that is a text")
    }
    return id
  }

  /// The bytes of an object; nil if it is absent or null.
  private static func object(
    _ range: Range<Int>?, of type: String, in text: Span<UInt8>
  ) throws(ServerMessage.Fault) -> [UInt8]? {
    guard let range, text[range.lowerBound] != UInt8(ascii: "n") else { return nil }
    guard text[range.lowerBound] == UInt8(ascii: "{") else {
      throw .malformed("the payload of a message of type \(type) is not a JSON object")
    }
    return ServerMessage.bytes(range, in: text)
  }
}
