/// The reason why Redis does not answer a command, or why a client cannot be made.
package struct RedisError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// There is no connection: none was made yet, it was lost, or the circuit is open. Nothing was sent.
    case unavailable
    /// Too many commands or bytes wait for answers. Nothing was sent.
    case overloaded
    /// The budget of the call is used up. The commands may have been run.
    case budgetExhausted
    /// The connection ended before the answer. The commands may have been run.
    case connectionLost
    /// The task that waited was cancelled. The commands may have been run.
    case cancelled
    /// A setting is not valid.
    case invalidSettings
    /// The connection could not be opened.
    case cannotConnect
    /// No TLS connection could be made.
    case tls
    /// The server refused user and password, or the user may not use the connection.
    case loginRefused
    /// The server refused the connection for another reason.
    case serverRefused
    /// The server broke the protocol.
    case protocolViolation
    /// The server refused a command of a transaction, so none was run.
    case transactionRefused
    /// A watched key was changed, so no command of a transaction was run.
    case conflict
  }

  /// The kind of failure.
  package let code: Code
  /// The failure and the next step, for the operator. It contains no password.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(message) [\(code.rawValue)]" }
}
