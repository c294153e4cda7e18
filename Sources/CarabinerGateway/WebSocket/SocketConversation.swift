internal import Carabiner
internal import CarabinerWire

/// Enforces the message order of a subprotocol, and maps each message to a reaction.
struct SocketConversation: Sendable {
  /// The reaction to a message.
  enum Reaction: Sendable {
    case none
    /// The server acknowledges the connection. The payload is that of `connection_init`.
    case acknowledge(payload: [UInt8]?)
    case pong(payload: [UInt8]?)
    case begin(id: String, GraphQLParameters)
    case end(id: String)
    case close(WebSocketCloseCode, reason: String)
  }

  /// The maximum nesting depth of a message. The payload of an operation is also checked against the limit of requests.
  private static let limits = JSONLimits(maximumDepth: 80)

  let dialect: WebSocketProtocol
  /// Whether the client has sent `connection_init`.
  private(set) var isInitialised = false

  init(_ dialect: WebSocketProtocol = .graphQLTransportWS) { self.dialect = dialect }

  /// - Parameter isTaken: Returns whether an operation with this ID is in progress.
  mutating func received(_ text: [UInt8], isTaken: (String) -> Bool) -> Reaction {
    let message: ClientMessage
    do throws(ServerMessage.Fault) {
      message = try ClientMessage(reading: text.span, dialect, limits: Self.limits)
    } catch {
      return .close(.badRequest, reason: "Invalid message received: \(error)")
    }
    switch message {
    case .initialise(let payload):
      guard !isInitialised else { return .close(.tooManyInitialisations, reason: "Too many initialisation requests") }
      isInitialised = true
      return .acknowledge(payload: payload)
    case .ping(let payload): return .pong(payload: payload)
    case .subscribe(let id, let payload):
      guard isInitialised else { return .close(.unauthorized, reason: "Unauthorized") }
      // In the older protocol, a second operation with an id replaces the first.
      guard dialect == .graphQLWS || !isTaken(id) else {
        return .close(.subscriberExists, reason: "Subscriber for \(id) already exists")
      }
      do throws(RequestRefusal) {
        return .begin(id: id, try GraphQLParameters(body: payload, contentType: "application/json"))
      } catch {
        // Errors of an operation are sent to its client. A payload without an operation violates the protocol.
        return .close(.badRequest, reason: "Invalid message received: \(error.message)")
      }
    case .complete(let id): return .end(id: id)
    case .terminate: return .close(.normal, reason: "the client ends the connection")
    case .pong: return .none
    }
  }
}
