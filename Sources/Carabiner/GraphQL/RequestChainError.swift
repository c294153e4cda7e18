/// The chain could not produce a result.
public struct RequestChainError: DescribedError, Sendable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable {
    /// An HTTP request cannot be created for the request.
    case invalidRequest
    /// The stream ended without a result and without an error.
    case noResults
    /// The chain was started more often than allowed.
    case retryLimit
    /// The request's timeout passed.
    case timedOut
    /// A multipart response had no result within the idle timeout.
    case idle
    /// Two tasks read the same stream at the same time.
    case concurrentUse
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and what to do next.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static func timedOut(_ operation: String, after duration: Duration) -> Self {
    Self(
      .timedOut,
      "\(operation) took longer than \(duration / .seconds(1)) s, interceptors included; raise the request timeout, or trace the request "
        + "to see which stage is slow")
  }

  static func idle(_ duration: Duration) -> Self {
    Self(
      .idle,
      "no result arrived for \(duration), although the connection is open; check the server, or raise the idle timeout")
  }

  public var errorDescription: String? { message }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
