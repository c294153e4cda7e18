/// A bidirectional stream whose results go to a closure.
public protocol BidirectionalStreamInterface<Input> {
  associatedtype Input: ProtobufMessage

  /// Sends a message. After ``close()`` the stream ends with an error.
  @discardableResult
  func send(_ input: Input) -> Self

  /// Ends the request. Results still come.
  func close()

  /// Cancels the stream.
  func cancel()
}

/// A client stream whose results go to a closure.
public protocol ClientOnlyStreamInterface<Input> {
  associatedtype Input: ProtobufMessage

  /// Sends a message. After ``closeAndReceive()`` the stream ends with an error.
  @discardableResult
  func send(_ input: Input) -> Self

  /// Ends the request. Then the response comes.
  func closeAndReceive()

  /// Cancels the stream.
  func cancel()
}

/// A server stream whose results go to a closure.
public protocol ServerOnlyStreamInterface<Input> {
  associatedtype Input: ProtobufMessage

  /// Sends the message of the request. After a second one the stream ends with an error.
  func send(_ input: Input)

  /// Cancels the stream.
  func cancel()
}
