/// A part of the response of a stream.
public enum StreamResult<Output: Sendable>: Sendable {
  /// The header fields, once and first.
  case headers(Headers)
  /// A message.
  case message(Output)
  /// The end, once and last.
  case complete(code: Code, error: (any Error)?, trailers: Trailers?)

  /// The message; nil for another part.
  public var messageValue: Output? { if case .message(let message) = self { message } else { nil } }

  /// The end of a call that failed.
  static func failed(_ error: ConnectError) -> Self { .complete(code: error.code, error: error, trailers: error.metadata) }

  var isComplete: Bool { if case .complete = self { true } else { false } }
}

extension StreamResult: Equatable where Output: Equatable {
  /// Whether both are equal. Errors are equal if their descriptions are.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.headers(let left), .headers(let right)): left == right
    case (.message(let left), .message(let right)): left == right
    case (.complete(let leftCode, let leftError, let leftTrailers), .complete(let rightCode, let rightError, let rightTrailers)):
      leftCode == rightCode && leftError.map { "\($0)" } == rightError.map { "\($0)" } && leftTrailers == rightTrailers
    default: false
    }
  }
}
