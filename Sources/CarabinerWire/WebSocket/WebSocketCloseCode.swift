/// The close code of a WebSocket (RFC 6455, with the codes of GraphQL over WebSocket).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The connection has served its purpose.
  public static let normal = Self(rawValue: 1000)
  /// The server shuts down, or the client leaves.
  public static let goingAway = Self(rawValue: 1001)
  /// The other side broke the rules of WebSockets.
  public static let protocolError = Self(rawValue: 1002)
  /// The other side sent an unexpected kind of data.
  public static let unacceptableData = Self(rawValue: 1003)
  /// The close frame had no code.
  public static let none = Self(rawValue: 1005)
  /// The connection ended without a close frame.
  public static let abnormal = Self(rawValue: 1006)
  /// Text was not UTF-8.
  public static let invalidData = Self(rawValue: 1007)
  /// A message violates the server's policy.
  public static let policyViolation = Self(rawValue: 1008)
  /// A message was too large.
  public static let messageTooLarge = Self(rawValue: 1009)
  /// The client requires an extension that the server does not support.
  public static let missingExtension = Self(rawValue: 1010)
  /// The server failed.
  public static let serverFailed = Self(rawValue: 1011)
  /// The client does not understand a message of the server.
  public static let badResponse = Self(rawValue: 4004)
  /// The server does not understand a message of the client.
  public static let badRequest = Self(rawValue: 4400)
  /// An operation was sent before the connection was acknowledged.
  public static let unauthorized = Self(rawValue: 4401)
  /// The server refuses this client.
  public static let forbidden = Self(rawValue: 4403)
  /// The server does not support the subprotocol.
  public static let subprotocolRefused = Self(rawValue: 4406)
  /// The client was too slow with `connection_init`.
  public static let initialisationTimeout = Self(rawValue: 4408)
  /// Two operations had the same id.
  public static let subscriberExists = Self(rawValue: 4409)
  /// The client sent `connection_init` twice.
  public static let tooManyInitialisations = Self(rawValue: 4429)
  /// The server failed while it served an operation.
  public static let internalServerError = Self(rawValue: 4500)
  /// The server was too slow with `connection_ack`; sent by clients.
  public static let acknowledgementTimeout = Self(rawValue: 4504)

  /// Whether an endpoint may send this number in a close frame (RFC 6455, 7.4).
  ///
  /// Some codes report that the connection ended without a close frame, and others are reserved.
  package var isSendable: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// The payload of a close frame: the code and the reason, truncated to the size of a control frame.
  package func payload(reason: String) -> [UInt8] {
    // A control frame has at most 125 bytes, two of which are the code.
    var room = 123
    let kept = reason.prefix { character in
      room -= character.utf8.count
      return room >= 0
    }
    return [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] + kept.utf8
  }

  /// Whether a new connection would fail in the same way, so that the client should not reconnect.
  package var isFatal: Bool {
    switch self {
    case .normal, .goingAway, .none, .abnormal, .serverFailed, .initialisationTimeout, .acknowledgementTimeout: false
    // Service restart, try again later, bad gateway.
    case Self(rawValue: 1012), Self(rawValue: 1013), Self(rawValue: 1014): false
    case .badResponse, Self(rawValue: 4005), .badRequest, .unauthorized, .forbidden, .subprotocolRefused, .subscriberExists,
      .tooManyInitialisations, .internalServerError:
      true
    default: rawValue < 3000
    }
  }
}
