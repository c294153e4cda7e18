/// Brings the results of operations by other means than HTTP, as over a WebSocket.
///
/// It takes the place of the chain's HTTP leg: GraphQL interceptors, cache and retries work as ever, HTTP interceptors and the
/// parser are not passed.
public protocol ResultTransport: Sendable {
  /// Starts an operation and brings its results as they come.
  ///
  /// A consumer that drops the stream ends the operation, and so does cancelling the task that waits for a result. What state a
  /// subscription is in goes to ``RequestContext/subscription`` of the request.
  func results<Request: GraphQLRequest>(
    for request: Request
  ) async throws -> PullStream<GraphQLResponse<Request.Operation>>
}

/// How a chain reaches the server.
enum NetworkLeg: Sendable {
  case http(any HTTPTransport)
  case results(any ResultTransport)
}
