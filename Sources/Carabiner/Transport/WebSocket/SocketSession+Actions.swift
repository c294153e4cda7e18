package import CarabinerWire
package import FoundationEssentials

extension SocketSession {
  /// Identifies an operation to the driver of the session. It is never sent.
  package typealias Token = UInt64

  /// The state of the connection.
  package enum Phase: Sendable, Hashable {
    /// There is no connection, and no operation needs one.
    case idle
    /// It is being opened.
    case connecting
    /// It is open, and the server has not acknowledged it yet.
    case initialising
    /// Operations can be sent.
    case ready
    /// It was lost. The next attempt waits for its delay.
    case waiting
    /// The session was shut down.
    case ended
  }

  /// The timers of a session.
  package enum Timer: Sendable, Hashable, CaseIterable {
    /// Until the server has acknowledged.
    case acknowledgement
    /// Until the next ping of the client.
    case ping
    /// Until the answer to a ping.
    case pong
    /// Until the next attempt to connect.
    case reconnect
    /// Until a new connection counts as stable.
    case stable
    /// Until a connection without operations is closed.
    case idle
  }

  /// The actions for the driver of the session, in order.
  package enum Action: Sendable, Hashable {
    /// Open a connection.
    case connect
    /// Send a text message.
    case send([UInt8])
    /// Send a text message that answers a ping. While the server does not read, only the last answer is kept.
    case answer([UInt8])
    /// Send a ping frame.
    case ping
    /// Close the connection, and drop all its further messages.
    case close(WebSocketCloseCode, reason: String)
    /// Start a timer, or restart it.
    case start(Timer, Duration)
    /// Stop a timer if it runs.
    case stop(Timer)
    /// Deliver an event to an operation.
    case deliver(Token, Event)
    /// Write a line to the log.
    case log(String, isWarning: Bool)
  }

  /// An event of an operation.
  package enum Event: Sendable, Hashable {
    /// The state of the subscription changed.
    case state(SubscriptionState)
    /// A result arrived.
    case result(Data)
    /// It ended with errors, a list of them or one.
    case errors(Data)
    /// It ended.
    case complete
    /// It failed.
    case failed(WebSocketError)
  }
}
