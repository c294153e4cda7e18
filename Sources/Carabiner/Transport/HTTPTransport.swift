/// Sends one HTTP request.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns when the head of its response arrived.
  ///
  /// The body is pulled through the response's chunks; a consumer that drops them aborts the transfer, and so does cancelling
  /// the task.
  ///
  /// - Throws: ``TransportError``, or `CancellationError` if the task was cancelled.
  func send(_ request: URLRequest) async throws -> HTTPResponse
}
