public import CarabinerCalls
public import FoundationEssentials

/// Sees and changes streams.
///
/// Requests and messages to the server pass the interceptors in the order of the configuration, results in the opposite order.
public protocol StreamInterceptor: Interceptor {
  /// Gets the request of the stream when the stream is made, before it is opened.
  ///
  /// - Parameter proceed: Passes the request on. With an error it ends the stream, which is not opened.
  @Sendable func handleStreamStart(
    _ request: HTTPRequest<Void>, proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void)

  /// Gets a message to the server before it is serialised.
  @Sendable func handleStreamInput<Message: ProtobufMessage>(
    _ input: Message, proceed: @escaping @Sendable (Message) -> Void)

  /// Gets a message to the server after it was serialised, before it is compressed.
  @Sendable func handleStreamRawInput(_ input: Data, proceed: @escaping @Sendable (Data) -> Void)

  /// Gets a result before its message is parsed, decompressed.
  @Sendable func handleStreamRawResult(
    _ result: StreamResult<Data>, proceed: @escaping @Sendable (StreamResult<Data>) -> Void)

  /// Gets a result after its message was parsed.
  @Sendable func handleStreamResult<Message: ProtobufMessage>(
    _ result: StreamResult<Message>, proceed: @escaping @Sendable (StreamResult<Message>) -> Void)
}

extension StreamInterceptor {
  /// Passes the request on.
  @Sendable public func handleStreamStart(
    _ request: HTTPRequest<Void>, proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void
  ) { proceed(.success(request)) }

  /// Passes the message on.
  @Sendable public func handleStreamInput<Message: ProtobufMessage>(
    _ input: Message, proceed: @escaping @Sendable (Message) -> Void
  ) { proceed(input) }

  /// Passes the message on.
  @Sendable public func handleStreamRawInput(_ input: Data, proceed: @escaping @Sendable (Data) -> Void) { proceed(input) }

  /// Passes the result on.
  @Sendable public func handleStreamRawResult(
    _ result: StreamResult<Data>, proceed: @escaping @Sendable (StreamResult<Data>) -> Void
  ) { proceed(result) }

  /// Passes the result on.
  @Sendable public func handleStreamResult<Message: ProtobufMessage>(
    _ result: StreamResult<Message>, proceed: @escaping @Sendable (StreamResult<Message>) -> Void
  ) { proceed(result) }
}
