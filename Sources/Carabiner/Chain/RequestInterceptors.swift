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
  /// Who sees each error last.
  public var additionalError: (any AdditionalErrorInterceptor)?

  /// These interceptors.
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
  /// Looks at an error and returns it, or another in its place.
  func intercept<Request: GraphQLRequest>(error: any Error, request: Request) async -> any Error
}
