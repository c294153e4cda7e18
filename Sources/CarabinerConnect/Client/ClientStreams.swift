internal import CarabinerCalls

/// A stream of messages to the server whose results go to a closure. When it is released, its request ends.
final class CallbackStream<Input: ProtobufMessage, Output: ProtobufMessage>: BidirectionalStreamInterface,
  ClientOnlyStreamInterface, Sendable
{
  private let call: StreamCall<Input, Output>

  init(_ call: StreamCall<Input, Output>) { self.call = call }

  deinit { call.close() }

  @discardableResult
  func send(_ input: Input) -> Self {
    call.sendOrEnd(input)
    return self
  }

  func close() { call.close() }
  func closeAndReceive() { call.close() }
  func cancel() { call.cancel() }
}

/// A server stream whose results go to a closure.
final class ServerCallbackStream<Input: ProtobufMessage, Output: ProtobufMessage>: ServerOnlyStreamInterface, Sendable {
  private let call: StreamCall<Input, Output>

  init(_ call: StreamCall<Input, Output>) { self.call = call }

  deinit { call.close() }

  func send(_ input: Input) { call.sendOrEnd(input) }
  func cancel() { call.cancel() }
}

/// A stream of messages to the server whose results the caller reads.
final class BidirectionalAsyncStream<Input: ProtobufMessage, Output: ProtobufMessage>: BidirectionalAsyncStreamInterface,
  ClientOnlyAsyncStreamInterface, Sendable
{
  private let handle: StreamHandle<Input, Output>

  init(_ handle: StreamHandle<Input, Output>) { self.handle = handle }

  @discardableResult
  func send(_ input: Input) throws -> Self {
    try handle.call.send(input)
    return self
  }

  func results() -> AsyncStream<StreamResult<Output>> { handle.results() }
  func close() { handle.call.close() }
  func closeAndReceive() { handle.call.close() }
  func cancel() { handle.call.cancel() }
}

/// A server stream whose results the caller reads.
final class ServerOnlyAsyncStream<Input: ProtobufMessage, Output: ProtobufMessage>: ServerOnlyAsyncStreamInterface, Sendable {
  private let handle: StreamHandle<Input, Output>

  init(_ handle: StreamHandle<Input, Output>) { self.handle = handle }

  func send(_ input: Input) throws { try handle.call.send(input) }
  func results() -> AsyncStream<StreamResult<Output>> { handle.results() }
  func cancel() { handle.call.cancel() }
}
