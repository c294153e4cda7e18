public import CarabinerCalls

/// Calls methods of Connect and gRPC-Web services.
public final class ProtocolClient: ProtocolClientInterface {
  private let client: any HTTPClientInterface
  private let config: ProtocolClientConfig

  /// Creates a client.
  public init(httpClient: any HTTPClientInterface = URLSessionHTTPClient(), config: ProtocolClientConfig) {
    client = httpClient
    self.config = config
  }

  // MARK: Unary

  @discardableResult
  public func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers,
    completion: @escaping @Sendable (ResponseMessage<Output>) -> Void
  ) -> Cancelable {
    let call: UnaryCall<Input, Output> = unaryCall(path, idempotencyLevel, headers)
    call.start(request, completion: completion)
    return Cancelable { [weak call] in call?.cancel() }
  }

  public func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers
  ) async -> ResponseMessage<Output> {
    let call: UnaryCall<Input, Output> = unaryCall(path, idempotencyLevel, headers)
    return await call.outcome(request)
  }

  private func unaryCall<Input: ProtobufMessage, Output: ProtobufMessage>(
    _ path: String, _ idempotencyLevel: IdempotencyLevel, _ headers: Headers
  ) -> UnaryCall<Input, Output> {
    UnaryCall(plan(path, .unary, headers, idempotencyLevel), UnaryForm(config.codec), UnaryHooks(config))
  }

  // MARK: Streams with callbacks

  public func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any BidirectionalStreamInterface<Input> {
    CallbackStream(stream(path, .bidirectionalStream, headers, onResult))
  }

  public func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any ClientOnlyStreamInterface<Input> {
    CallbackStream(stream(path, .clientStream, headers, onResult))
  }

  public func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any ServerOnlyStreamInterface<Input> {
    ServerCallbackStream(stream(path, .serverStream, headers, onResult))
  }

  private func stream<Input: ProtobufMessage, Output: ProtobufMessage>(
    _ path: String, _ type: MethodSpec.MethodType, _ headers: Headers,
    _ onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> StreamCall<Input, Output> {
    let sink = StreamSink(isSingle: type == .clientStream, onResult)
    let call = StreamCall(plan(path, type, headers), StreamForm(config.codec), StreamHooks<Input, Output>(config), sink)
    call.start()
    return call
  }

  private func plan(
    _ path: String, _ type: MethodSpec.MethodType, _ headers: Headers, _ idempotencyLevel: IdempotencyLevel = .unknown
  ) -> CallPlan {
    CallPlan(
      path, type, headers: headers, idempotencyLevel: idempotencyLevel, config: CallConfig(config), client: client)
  }

  // MARK: Streams with results to ask for

  public func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any BidirectionalAsyncStreamInterface<Input, Output> {
    BidirectionalAsyncStream(handle(path, .bidirectionalStream, headers))
  }

  public func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any ClientOnlyAsyncStreamInterface<Input, Output> {
    BidirectionalAsyncStream(handle(path, .clientStream, headers))
  }

  public func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any ServerOnlyAsyncStreamInterface<Input, Output> {
    ServerOnlyAsyncStream(handle(path, .serverStream, headers))
  }

  private func handle<Input: ProtobufMessage, Output: ProtobufMessage>(
    _ path: String, _ type: MethodSpec.MethodType, _ headers: Headers
  ) -> StreamHandle<Input, Output> {
    StreamHandle(plan(path, type, headers), StreamForm(config.codec), StreamHooks(config))
  }
}
