/// The reason why a message of HTTP/1.1 is not read.
///
/// The place where it ends is then unknown, so its connection must be closed.
public struct HTTP1Error: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: Sendable, Hashable {
    /// The first line, a header or a trailer is malformed.
    case malformedHead
    /// The end of the body is ambiguous.
    case ambiguousLength
    /// The message has another transfer coding than `chunked` alone.
    case unsupportedCoding
    /// The version is not HTTP/1.0 or HTTP/1.1.
    case unsupportedVersion
    /// The request is CONNECT, which asks for a tunnel.
    case unsupportedMethod
    /// The request has an expectation besides `100-continue`.
    case unsupportedExpectation
    /// The Host header or the target of a request does not name one host.
    case badHost
    /// The size of a chunk or the end of a chunk is malformed.
    case malformedChunk
    /// The first line, the headers and the trailers exceed ``HTTP1Limits/headBytes`` or ``HTTP1Limits/fields``.
    case headTooLarge
    /// The connection ended before the message did.
    case endedEarly
    /// The response switches to another protocol, although none was requested.
    case unexpectedUpgrade
  }

  public let code: Code
  /// A clause without a subject, such as "it declares several lengths".
  public let reason: String

  public var description: String { reason }

  /// The status of the response with which a server refuses a request that has this fault.
  public var status: Int {
    switch code {
    case .headTooLarge: 431
    case .unsupportedCoding, .unsupportedMethod: 501
    case .unsupportedVersion: 505
    case .unsupportedExpectation: 417
    case .malformedHead, .ambiguousLength, .malformedChunk, .endedEarly, .unexpectedUpgrade, .badHost: 400
    }
  }

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}
