package import FoundationEssentials

/// A step of a response.
///
/// A response has headers once, then messages, and exactly one end, which is the last event. A unary response has at most one message.
package enum ResponseEvent: Sendable {
  /// The headers of the response.
  case headers(Headers)
  /// A message, decompressed.
  case message(Data)
  /// The end. The code of the error is `code`, and its metadata are headers and trailers.
  case complete(code: Code, error: ConnectError?, trailers: Trailers)
}

/// The status of an exchange, as far as the HTTP client reports it.
package enum ResponseStatus: Sendable, Hashable {
  /// The status of HTTP.
  case http(Int)
  /// The code that the status implies.
  case code(Code)
  /// Neither is known before the end. Only the content type shows whether the exchange succeeded.
  case unknown

  /// The code of a response without an error of its own; nil if it is not known.
  var inferredCode: Code? {
    switch self {
    case .http(let status): Code.fromHTTPStatus(status)
    case .code(let code): code
    case .unknown: nil
    }
  }
}

/// Reads one response: bytes in, events out. It never throws; a fault is the end of the response.
package protocol ResponseReader: Sendable {
  /// Whether the end is known. The rest of the body has no meaning then.
  ///
  /// ``next()`` may have events that were not returned yet.
  var isComplete: Bool { get }

  /// Adds the head. Called once, before anything else.
  ///
  /// - Parameter headers: The fields, for example ``Headers/init(received:)``. Names in upper case are accepted.
  mutating func begin(_ status: ResponseStatus, headers: Headers)

  /// Adds bytes of the body, divided in any way.
  mutating func append(_ chunk: Data)

  /// Ends the body.
  ///
  /// - Parameter code: The code of the exchange, if it was not known before. It counts only if the response has no end of its own.
  mutating func finish(code: Code)

  /// Returns the next event; nil if more bytes are needed, or after the end.
  mutating func next() -> ResponseEvent?
}

extension ResponseReader {
  /// Ends the body of a response whose status is known.
  package mutating func finish() { finish(code: .ok) }
}
