/// The interceptors of one request.
public struct RequestInterceptors: Sendable {
  /// The GraphQL interceptors, outermost first.
  public var graphQL: [any GraphQLInterceptor]
  /// The cache step.
  public var cache: any CacheInterceptor
  /// The HTTP interceptors, outermost first.
  public var http: [any HTTPInterceptor]
  /// The parser.
  public var parser: any ResponseParsingInterceptor
  /// The interceptor that sees each error last; nil for none.
  public var additionalError: (any AdditionalErrorInterceptor)?

  /// A set of interceptors.
  public init(
    graphQL: [any GraphQLInterceptor], cache: any CacheInterceptor, http: [any HTTPInterceptor],
    parser: any ResponseParsingInterceptor, additionalError: (any AdditionalErrorInterceptor)? = nil
  ) {
    self.graphQL = graphQL
    self.cache = cache
    self.http = http
    self.parser = parser
    self.additionalError = additionalError
  }
}

/// Sees each error of a request once, after every other step.
public protocol AdditionalErrorInterceptor: Sendable {
  /// Returns the error for the caller: the same one, or another.
  func intercept<Request: GraphQLRequest>(error: any Error, request: Request) async -> any Error
}
