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

  /// Begins the work of this step by a synchronous call, and changes the request.
  ///
  /// The chain calls it first. If it returns nil, the chain calls ``intercept(request:next:)`` instead. The default implementation
  /// returns nil.
  ///
  /// - Throws: As ``intercept(request:next:)``.
  func beginPass<Request: GraphQLRequest>(_ request: inout Request) throws -> BegunPass<ParsedResult<Request.Operation>>?

  /// Continues the work that ``beginPass(_:)`` began, if synchronous calls are not enough for it.
  ///
  /// - Throws: As ``intercept(request:next:)``.
  func finishPass<Request: GraphQLRequest>(
    _ pass: BegunPass<ParsedResult<Request.Operation>>, request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request>
}

extension GraphQLInterceptor {
  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { false }

  public func beginPass<Request: GraphQLRequest>(
    _ request: inout Request
  ) throws -> BegunPass<ParsedResult<Request.Operation>>? { nil }

  public func finishPass<Request: GraphQLRequest>(
    _ pass: BegunPass<ParsedResult<Request.Operation>>, request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> { await next(request).passed(pass.pass) }
}

/// The work of a step for a request, begun by a synchronous call.
public struct BegunPass<Element: Sendable>: Sendable {
  @usableFromInline package let pass: any StreamPass<Element>

  // Inlinable, so that a step in another module need not look up the metadata of the type.
  @inlinable package init(_ pass: any StreamPass<Element>) { self.pass = pass }
}
