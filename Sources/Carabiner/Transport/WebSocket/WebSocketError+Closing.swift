package import CarabinerWire

extension WebSocketError {
  /// The error for a connection that the server closed.
  ///
  /// - Parameter reason: The reason of the server; may be empty.
  package static func closed(_ closeCode: WebSocketCloseCode, reason: String, url: String) -> WebSocketError {
    let (code, advice) = meaning(of: closeCode)
    let words = reason.isEmpty ? "" : " (\(reason.prefix(200).debugDescription))"
    let happened =
      switch closeCode {
      case .abnormal: "the connection ended without a close frame"
      case .none: "the server closed the WebSocket without saying why"
      default: "the server closed the WebSocket with \(closeCode.rawValue)\(words)"
      }
    return WebSocketError(code, "\(happened); \(advice)", url: url, closeCode: closeCode)
  }

  private static func meaning(of closeCode: WebSocketCloseCode) -> (Code, advice: String) {
    switch closeCode {
    case .badRequest: (.badRequest, "it does not understand the message; check that both sides speak the same protocol")
    case .unauthorized: (.unauthorized, "it does not know this client; check the payload of connection_init and the headers")
    case .forbidden: (.forbidden, "it refuses this client; check the credentials in connection_init and the headers")
    case .subprotocolRefused: (.subprotocolRefused, "it uses another subprotocol; choose the other one")
    case .initialisationTimeout: (.acknowledgementTimeout, "it did not receive connection_init in time; check the network")
    case .subscriberExists: (.subscriberExists, "it already has an operation with that id; check the server's log")
    case .tooManyInitialisations: (.tooManyInitialisations, "it received connection_init twice; check the proxies between")
    case .internalServerError, .serverFailed: (.serverFailed, "it failed; check the server's log")
    case .normal, .none: (.connectionLost, "operations were in progress; check the server's log")
    case .goingAway: (.connectionLost, "it is shutting down; try again later")
    case .abnormal: (.connectionLost, "check that the server is running, and the network between")
    case .messageTooLarge: (.closed, "it does not accept messages of this size; send a shorter document or fewer variables")
    default: (.closed, "look up what the server means by that code")
    }
  }

  /// Whether a new connection would fail in the same way, so that reconnecting is useless.
  var isFatal: Bool {
    switch code {
    case .unsupportedURL, .invalidHeader, .proxyUnsupported, .tls, .invalidUpgrade, .subprotocolRefused, .initialisationFailed,
      .initialisationRefused, .invalidMessage, .messageTooLarge, .protocolViolation, .tooManyOperations, .shutDown:
      true
    case .upgradeRefused: (300..<500).contains(statusCode ?? 0) && statusCode != 408 && statusCode != 429
    case .cannotConnect, .connectTimeout, .acknowledgementTimeout, .connectionLost, .keepAliveTimeout, .badRequest, .unauthorized,
      .forbidden, .subscriberExists, .tooManyInitialisations, .serverFailed, .closed:
      closeCode?.isFatal ?? false
    }
  }

  /// The same error for a mutation that is not sent again because it may have been executed.
  func ofSentMutation() -> WebSocketError {
    var error = self
    error.mayHaveBeenSent = true
    error.message += "; the mutation may have been executed, so it is not sent again; check that before you repeat it"
    return error
  }

  /// The same error for a query that is not sent again because some results were delivered.
  func ofBegunQuery() -> WebSocketError {
    var error = self
    error.mayHaveBeenSent = true
    error.message += "; some results were delivered already, so the query is not sent again: repeat it from the start"
    return error
  }

  /// The same error after a number of reconnection attempts.
  func afterReconnects(_ attempts: Int) -> WebSocketError {
    guard attempts > 0 else { return self }
    var error = self
    error.message += "; reconnecting was tried \(attempts == 1 ? "once" : "\(attempts) times")"
    return error
  }
}
