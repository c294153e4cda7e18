public import CarabinerCalls

/// A bidirectional stream whose results are read from an `AsyncStream`.
///
/// Releasing it and its results ends the transfer.
public protocol BidirectionalAsyncStreamInterface<Input, Output> {
  associatedtype Input: ProtobufMessage
  associatedtype Output: ProtobufMessage

  /// Sends a message.
  ///
  /// - Throws: ``CarabinerCalls/ConnectError`` with the code `failedPrecondition` after ``close()``.
  @discardableResult
  func send(_ input: Input) throws -> Self

  /// The results that were not read yet: headers once, messages, and the end once.
  ///
  /// While no result is read, reading from the network pauses. Cancelling the task that reads them cancels the stream.
  func results() -> AsyncStream<StreamResult<Output>>

  /// Ends the request. Results still come.
  func close()

  /// Cancels the stream.
  func cancel()
}

/// A client stream whose results are read from an `AsyncStream`.
///
/// Releasing it and its results ends the transfer.
public protocol ClientOnlyAsyncStreamInterface<Input, Output> {
  associatedtype Input: ProtobufMessage
  associatedtype Output: ProtobufMessage

  /// Sends a message.
  ///
  /// - Throws: ``CarabinerCalls/ConnectError`` with the code `failedPrecondition` after ``closeAndReceive()``.
  @discardableResult
  func send(_ input: Input) throws -> Self

  /// The results that were not read yet: headers, exactly one message, and the end; or headers and an error.
  func results() -> AsyncStream<StreamResult<Output>>

  /// Ends the request. Then the response comes.
  func closeAndReceive()

  /// Cancels the stream.
  func cancel()
}

/// A server stream whose results are read from an `AsyncStream`.
///
/// Releasing it and its results ends the transfer.
public protocol ServerOnlyAsyncStreamInterface<Input, Output> {
  associatedtype Input: ProtobufMessage
  associatedtype Output: ProtobufMessage

  /// Sends the message of the request.
  ///
  /// - Throws: ``CarabinerCalls/ConnectError`` with the code `failedPrecondition` for a second message.
  func send(_ input: Input) throws

  /// The results that were not read yet: headers once, messages, and the end once.
  ///
  /// While no result is read, reading from the network pauses. Cancelling the task that reads them cancels the stream.
  func results() -> AsyncStream<StreamResult<Output>>

  /// Cancels the stream.
  func cancel()
}
