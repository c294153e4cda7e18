/// Sends one HTTP request.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns when the head of its response has arrived.
  ///
  /// The chunks of the response are the body. To abort the transfer, release them or cancel the task.
  ///
  /// - Throws: ``TransportError``, or `CancellationError` if the task was cancelled.
  func send(_ request: URLRequest) async throws -> HTTPResponse
}
