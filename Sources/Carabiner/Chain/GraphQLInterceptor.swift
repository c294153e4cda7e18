/// Calls the next step of the chain and returns the stream of its results.
public typealias NextInterceptorFunction<Request: GraphQLRequest> =
  @Sendable (Request) async -> InterceptorResultStream<Request>

/// Another name for ``NextInterceptorFunction``, which parts of Apollo's documentation use.
public typealias NextGraphQLInterceptorFunction<Request: GraphQLRequest> = NextInterceptorFunction<Request>

/// A step that sees GraphQL requests on the way down and their results on the way up.
public protocol GraphQLInterceptor: ChainStage {
  /// Does work before and after the rest of the chain.
  ///
  /// Call `next` with the request, changed or not, and map its stream to see each result. To answer without the server, return
  /// a stream without calling `next`. To start again, throw `RequestChain.Retry`, here or in the stream.
  ///
  /// - Throws: Any error. Outer interceptors see it in `mapErrors`.
  func intercept<Request: GraphQLRequest>(
    request: Request,
    next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request>

  /// Whether this step does nothing for a request and its results, so that the chain may skip it.
  ///
  /// The chain calls it at each attempt. The default implementation returns false. A trace shows the step in any case.
  func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool
}

extension GraphQLInterceptor {
  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { false }
}
