/// Says which interceptors an operation passes.
///
/// Every method has a default, so a provider writes only what it changes.
public protocol InterceptorProvider: Sendable {
  /// The GraphQL interceptors, outermost first.
  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor]

  /// The cache step.
  func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor

  /// The HTTP interceptors, outermost first.
  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor]

  /// The parser.
  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor

  /// Who sees each error last, before the caller does.
  func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any AdditionalErrorInterceptor)?

  /// All interceptors of one request; called once, and the same instances serve its retries.
  ///
  /// The default asks the other methods. A provider whose stages share something per request implements this one.
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

/// The provider used unless another is given.
public struct DefaultInterceptorProvider: InterceptorProvider {
  /// The one instance anybody needs.
  public static let shared = DefaultInterceptorProvider()

  /// A provider of the defaults.
  public init() {}

  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors { DefaultInterceptors.all }
}

/// The interceptors used unless others are given; none keeps anything of a request, so all requests share them.
private enum DefaultInterceptors {
  static let all = RequestInterceptors(
    graphQL: [MaxRetryInterceptor(), AutomaticPersistedQueryInterceptor()], cache: DefaultCacheInterceptor(),
    http: [ResponseCodeInterceptor()], parser: JSONResponseParsingInterceptor())
}
