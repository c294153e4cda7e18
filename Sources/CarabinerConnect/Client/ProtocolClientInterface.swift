public import CarabinerCalls

/// Calls methods. Generated code uses it.
public protocol ProtocolClientInterface: Sendable {
  /// Calls a unary method.
  ///
  /// - Parameters:
  ///   - path: `package.Service/Method`.
  ///   - idempotencyLevel: The idempotency of the method.
  ///   - completion: Gets the outcome once, on a thread of the library.
  @discardableResult
  func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers,
    completion: @escaping @Sendable (ResponseMessage<Output>) -> Void
  ) -> Cancelable

  /// Makes a bidirectional stream.
  ///
  /// - Parameter onResult: Gets headers once, messages, and the end once, on a thread of the library.
  func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any BidirectionalStreamInterface<Input>

  /// Makes a client stream.
  func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any ClientOnlyStreamInterface<Input>

  /// Makes a server stream.
  func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
  ) -> any ServerOnlyStreamInterface<Input>

  /// Calls a unary method. Cancelling the task cancels the call.
  func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers
  ) async -> ResponseMessage<Output>

  /// Makes a bidirectional stream.
  func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any BidirectionalAsyncStreamInterface<Input, Output>

  /// Makes a client stream.
  func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any ClientOnlyAsyncStreamInterface<Input, Output>

  /// Makes a server stream.
  func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
    path: String, headers: Headers
  ) -> any ServerOnlyAsyncStreamInterface<Input, Output>
}
