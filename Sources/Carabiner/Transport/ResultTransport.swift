/// Runs operations without HTTP requests, for example over a WebSocket.
///
/// It replaces HTTP interceptors, transport and parser of a chain. GraphQL interceptors, cache and retries work as with HTTP.
public protocol ResultTransport: Sendable {
  /// Starts an operation and returns its results as they arrive.
  ///
  /// To end the operation, release the stream or cancel the task that waits for a result. The transport reports the state of a
  /// subscription to ``RequestContext/subscription`` of the request.
  func results<Request: GraphQLRequest>(
    for request: Request
  ) async throws -> PullStream<GraphQLResponse<Request.Operation>>
}

/// The transport of a chain.
enum TransportKind: Sendable {
  case http(any HTTPTransport)
  case results(any ResultTransport)
}
