public import FoundationEssentials

/// Sends HTTP requests for the calls of a client.
public protocol HTTPClientInterface: Sendable {
  /// Sends a request and reads the whole response.
  ///
  /// - Parameters:
  ///   - request: The request. Its message is the body.
  ///   - onMetrics: Gets the figures of the exchange, after the response.
  ///   - onResponse: Gets the response once: the status as a code, and the body as it was received.
  @discardableResult
  func unary(
    request: HTTPRequest<Data?>, onMetrics: @escaping @Sendable (HTTPMetrics) -> Void,
    onResponse: @escaping @Sendable (HTTPResponse) -> Void
  ) -> Cancelable

  /// Opens a stream.
  ///
  /// - Parameters:
  ///   - request: The request without a body.
  ///   - responseCallbacks: Get the response.
  /// - Returns: Closures that send the body.
  func stream(request: HTTPRequest<Data?>, responseCallbacks: ResponseCallbacks) -> RequestCallbacks<Data>
}

/// Send the body of a stream.
public struct RequestCallbacks<Message: Sendable>: Sendable {
  /// Aborts the exchange.
  public let cancel: @Sendable () -> Void
  /// Sends a piece of the body.
  public let sendData: @Sendable (Message) -> Void
  /// Ends the body.
  public let sendClose: @Sendable () -> Void

  /// Creates a set of closures.
  public init(
    cancel: @escaping @Sendable () -> Void, sendData: @escaping @Sendable (Message) -> Void,
    sendClose: @escaping @Sendable () -> Void
  ) {
    self.cancel = cancel
    self.sendData = sendData
    self.sendClose = sendClose
  }
}

/// Get the response of a stream.
public struct ResponseCallbacks: Sendable {
  /// Gets the header fields, once and first.
  public let receiveResponseHeaders: @Sendable (Headers) -> Void
  /// Gets a piece of the body.
  public let receiveResponseData: @Sendable (Data) -> Void
  /// Gets the figures of the exchange.
  public let receiveResponseMetrics: @Sendable (HTTPMetrics) -> Void
  /// Gets the end: the status as a code, trailers, and an error if the exchange failed.
  public let receiveClose: @Sendable (Code, Trailers, (any Error)?) -> Void

  /// Creates a set of closures.
  public init(
    receiveResponseHeaders: @escaping @Sendable (Headers) -> Void, receiveResponseData: @escaping @Sendable (Data) -> Void,
    receiveResponseMetrics: @escaping @Sendable (HTTPMetrics) -> Void,
    receiveClose: @escaping @Sendable (Code, Trailers, (any Error)?) -> Void
  ) {
    self.receiveResponseHeaders = receiveResponseHeaders
    self.receiveResponseData = receiveResponseData
    self.receiveResponseMetrics = receiveResponseMetrics
    self.receiveClose = receiveClose
  }
}
