/// Creates the interceptors of each operation.
///
/// Each method has a default implementation that returns the built-in interceptors.
public protocol InterceptorProvider: Sendable {
  /// The GraphQL interceptors, outermost first.
  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor]

  /// The cache step.
  func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor

  /// The HTTP interceptors, outermost first.
  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor]

  /// The parser.
  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor

  /// The interceptor that sees each error last, before the caller; nil for none.
  func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any AdditionalErrorInterceptor)?

  /// All interceptors of one request. It is called once per request; retries use the same instances.
  ///
  /// The default implementation calls the other methods. Implement this method if the stages of a request share state.
  ///
  /// - Throws: Any error. The request then fails with it, and no interceptor sees it.
  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors
}

extension InterceptorProvider {
  public func graphQLInterceptors<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> [any GraphQLInterceptor] {
    DefaultInterceptors.all.graphQL
  }

  public func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor {
    DefaultInterceptors.all.cache
  }

  public func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    DefaultInterceptors.all.http
  }

  public func responseParser<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> any ResponseParsingInterceptor {
    DefaultInterceptors.all.parser
  }

  public func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any AdditionalErrorInterceptor)? { nil }

  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    RequestInterceptors(
      graphQL: graphQLInterceptors(for: operation),
      cache: cacheInterceptor(for: operation),
      http: httpInterceptors(for: operation),
      parser: responseParser(for: operation),
      additionalError: additionalErrorInterceptor(for: operation))
  }
}

/// The provider of the built-in interceptors.
public struct DefaultInterceptorProvider: InterceptorProvider {
  /// The shared instance.
  public static let shared = DefaultInterceptorProvider()

  /// A provider of the defaults.
  public init() {}

  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors { DefaultInterceptors.all }
}

/// The built-in interceptors. They keep no state of a request, so all requests share them.
private enum DefaultInterceptors {
  static let all = RequestInterceptors(
    graphQL: [MaxRetryInterceptor(), AutomaticPersistedQueryInterceptor()], cache: DefaultCacheInterceptor(),
    http: [ResponseCodeInterceptor()], parser: JSONResponseParsingInterceptor())
}
