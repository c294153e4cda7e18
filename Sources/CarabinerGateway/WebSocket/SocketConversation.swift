internal import Carabiner
internal import CarabinerWire

/// The order of what a client says over a WebSocket, as the protocol `graphql-transport-ws` has it: text in, reaction out.
struct SocketConversation: Sendable {
  /// What follows of a message.
  enum Reaction: Sendable {
    case none
    /// The connection is acknowledged; the payload is what the client introduced itself with.
    case acknowledge(payload: [UInt8]?)
    case pong(payload: [UInt8]?)
    case begin(id: String, GraphQLParameters)
    case end(id: String)
    case close(WebSocketCloseCode, reason: String)
  }

  /// How deep a message may be nested; a request's own limit applies to its payload again.
  private static let limits = JSONLimits(maximumDepth: 80)

  /// Whether the client has introduced itself.
  private(set) var isInitialised = false

  /// - Parameter isTaken: Whether an operation of this id is under way.
  mutating func received(_ text: [UInt8], isTaken: (String) -> Bool) -> Reaction {
    let message: ClientMessage
    do throws(ServerMessage.Fault) {
      message = try ClientMessage(reading: text.span, limits: Self.limits)
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
      guard !isTaken(id) else { return .close(.subscriberExists, reason: "Subscriber for \(id) already exists") }
      do throws(RequestRefusal) {
        return .begin(id: id, try GraphQLParameters(body: payload, contentType: "application/json"))
      } catch {
        // The operation's own errors are for its client. A payload that holds no operation breaks the protocol.
        return .close(.badRequest, reason: "Invalid message received: \(error.message)")
      }
    case .complete(let id): return .end(id: id)
    case .pong, .terminate: return .none
    }
  }
}
