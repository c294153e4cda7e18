package import CarabinerWire
package import FoundationEssentials

extension SocketSession {
  /// Names an operation to whoever holds the session; never sent.
  package typealias Token = UInt64

  /// What a session measures time for.
  package enum Timer: Sendable, Hashable, CaseIterable {
    /// Until the server has acknowledged.
    case acknowledgement
    /// Until the next ping of our own.
    case ping
    /// Until the answer to a ping.
    case pong
    /// Until the next attempt to connect.
    case reconnect
    /// Until a new connection counts as one that works.
    case stable
    /// Until a connection without operations is closed.
    case idle
  }

  /// What whoever holds the session has to do, in order.
  package enum Action: Sendable, Hashable {
    /// Open a connection.
    case connect
    /// Send a text message.
    case send([UInt8])
    /// Send a text message that answers a ping. While the server does not read, only the last answer is kept.
    case answer([UInt8])
    /// Send a ping frame.
    case ping
    /// Close the connection, and pass on nothing more of it.
    case close(WebSocketCloseCode, reason: String)
    /// Start a timer; one of its kind that runs is replaced.
    case start(Timer, Duration)
    /// Stop a timer if it runs.
    case stop(Timer)
    /// Tell an operation what happened.
    case deliver(Token, Event)
    /// Write a line to the log.
    case log(String, isWarning: Bool)
  }

  /// What happens to an operation.
  package enum Event: Sendable, Hashable {
    /// It is where a subscription may be.
    case state(SubscriptionState)
    /// A result came.
    case result(Data)
    /// It ended with errors, a list of them or one.
    case errors(Data)
    /// It ended.
    case complete
    /// It failed.
    case failed(WebSocketError)
  }
}
