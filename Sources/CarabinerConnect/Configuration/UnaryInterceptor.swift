public import CarabinerCalls
public import FoundationEssentials

/// Sees and changes unary calls.
///
/// Requests pass the interceptors in the order of the configuration, responses in the opposite order.
public protocol UnaryInterceptor: Interceptor {
  /// Gets the request before its message is serialised.
  ///
  /// To send the request again, keep `proceed` and call it again.
  ///
  /// - Parameter proceed: Passes the request on. With an error it ends the call, and nothing is sent.
  @Sendable func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>, proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void)

  /// Gets the request after its message was serialised, before it is compressed.
  ///
  /// - Parameter proceed: Passes the request on. With an error it ends the call, and nothing is sent.
  @Sendable func handleUnaryRawRequest(
    _ request: HTTPRequest<Data?>, proceed: @escaping @Sendable (Result<HTTPRequest<Data?>, ConnectError>) -> Void)

  /// Gets the response before its message is parsed, decompressed.
  @Sendable func handleUnaryRawResponse(_ response: HTTPResponse, proceed: @escaping @Sendable (HTTPResponse) -> Void)

  /// Gets the response after its message was parsed.
  @Sendable func handleUnaryResponse<Message: ProtobufMessage>(
    _ response: ResponseMessage<Message>, proceed: @escaping @Sendable (ResponseMessage<Message>) -> Void)
}

extension UnaryInterceptor {
  /// Passes the request on.
  @Sendable public func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>, proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
  ) { proceed(.success(request)) }

  /// Passes the request on.
  @Sendable public func handleUnaryRawRequest(
    _ request: HTTPRequest<Data?>, proceed: @escaping @Sendable (Result<HTTPRequest<Data?>, ConnectError>) -> Void
  ) { proceed(.success(request)) }

  /// Passes the response on.
  @Sendable public func handleUnaryRawResponse(
    _ response: HTTPResponse, proceed: @escaping @Sendable (HTTPResponse) -> Void
  ) { proceed(response) }

  /// Passes the response on.
  @Sendable public func handleUnaryResponse<Message: ProtobufMessage>(
    _ response: ResponseMessage<Message>, proceed: @escaping @Sendable (ResponseMessage<Message>) -> Void
  ) { proceed(response) }
}
