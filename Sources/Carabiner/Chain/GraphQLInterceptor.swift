/// Calls the next step of the chain and returns the stream of its results.
public typealias NextInterceptorFunction<Request: GraphQLRequest> =
  @Sendable (Request) async -> InterceptorResultStream<Request>

/// Another name for ``NextInterceptorFunction``, which parts of Apollo's documentation use.
public typealias NextGraphQLInterceptorFunction<Request: GraphQLRequest> = NextInterceptorFunction<Request>

/// A step that sees GraphQL requests on the way down and their results on the way up.
public protocol GraphQLInterceptor: Sendable {
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

  /// What a trace calls this step.
  var stageName: String { get }
  /// What the chain may take for granted about this step.
  var traits: StageTraits { get }

  /// Whether this step has nothing to do with a request and its results, so that the chain may pass it over.
  ///
  /// Asked at every attempt; false unless a step says otherwise. A trace shows the step all the same.
  func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool
}

extension GraphQLInterceptor {
  public var stageName: String { String(describing: type(of: self)) }
  public var traits: StageTraits { [] }
  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { false }
}
