/// A server message of GraphQL over WebSocket.
package struct ServerMessage: Sendable, Hashable {
  /// The kind of message, independent of its name in the protocol.
  package enum Kind: Sendable, Hashable {
    /// The server is ready for operations.
    case acknowledged
    /// The server refuses the connection, in the older protocol.
    case refused
    /// The server sends a ping.
    case ping
    /// The server answers a ping.
    case pong
    /// A result of an operation.
    case next
    /// An operation ended with errors.
    case errors
    /// An operation ended.
    case complete
  }

  /// The reason why a text is not a valid message.
  package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not JSON.
    case invalidJSON(JSONError)
    /// The text is JSON, but not a valid message.
    case malformed(String)
    /// No message of the protocol has this type.
    case unknownType(String)

    package var description: String {
      switch self {
      case .invalidJSON(let error): "it is not valid JSON: \(error)"
      case .malformed(let reason): reason
      case .unknownType(let type): "the protocol has no message of type \(type.prefix(100).debugDescription)"
      }
    }
  }

  /// The kind of message.
  package let kind: Kind
  /// The ID of the operation. It is never nil for `next`, `errors` and `complete`.
  package let id: String?
  /// The place of the payload in the text. It is never nil for `next` and `errors`.
  package let payload: Range<Int>?

  /// Parses a message.
  ///
  /// - Throws: ``Fault``.
  package init(
    reading text: Span<UInt8>, _ dialect: WebSocketProtocol, limits: JSONLimits = JSONLimits()
  ) throws(Fault) {
    let members: JSONMembers
    do throws(JSONError) {
      members = try JSONMembers(locating: text, limits: limits)
    } catch {
      throw .invalidJSON(error)
    }
    guard members.isObject else { throw .malformed("it is not a JSON object") }
    guard let type = Self.string(members.range(of: "type"), in: text) else { throw .malformed("its type is not a string") }
    guard let kind = Self.kind(of: type, dialect) else { throw .unknownType(type) }
    self.kind = kind
    id = Self.string(members.range(of: "id"), in: text)
    payload = members.range(of: "payload")
    try checkParts(type, in: text, dialect)
  }

  private func checkParts(_ type: String, in text: Span<UInt8>, _ dialect: WebSocketProtocol) throws(Fault) {
    switch kind {
    case .acknowledged, .refused, .ping, .pong: return
    case .next, .errors, .complete:
      guard id != nil else { throw .malformed("a message of type \(type) has no id that is a text") }
    }
    guard kind != .complete else { return }
    let first = payload.map { text[$0.lowerBound] }
    switch (kind, dialect, first) {
    case (.next, _, UInt8(ascii: "{")), (.errors, _, UInt8(ascii: "[")), (.errors, .graphQLWS, UInt8(ascii: "{")): return
    default: throw .malformed("the payload of a message of type \(type) does not follow the protocol")
    }
  }

  private static func kind(of type: String, _ dialect: WebSocketProtocol) -> Kind? {
    switch (type, dialect) {
    case ("connection_ack", _): .acknowledged
    case ("complete", _): .complete
    case ("error", _): .errors
    case ("next", .graphQLTransportWS), ("data", .graphQLWS): .next
    case ("ping", .graphQLTransportWS): .ping
    case ("pong", .graphQLTransportWS), ("ka", .graphQLWS): .pong
    case ("connection_error", .graphQLWS): .refused
    default: nil
    }
  }

  /// The string in a range; nil if the value is not a string or absent.
  static func string(_ range: Range<Int>?, in text: Span<UInt8>) -> String? {
    guard let range, text[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return (try? JSONValue(parsing: bytes(range, in: text)))?.string
  }

  /// The bytes in a range.
  static func bytes(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for offset in range { bytes.append(text[offset]) }
    return bytes
  }
}
