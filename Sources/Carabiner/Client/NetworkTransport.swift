/// Runs operations for a client.
public protocol NetworkTransport: Sendable {
  /// Runs an operation and brings its results.
  func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>>
}

/// What a caller asks for beside the operation.
public struct RequestConfiguration: Sendable {
  /// Seconds an attempt may take from the first interceptor on; nil for no limit.
  public var requestTimeout: Double?
  /// Whether results from the server are written to the cache.
  public var writeResultsToCache: Bool
  /// Headers of this request beside the transport's.
  public var additionalHeaders: HTTPHeaders
  /// Who is told what each stage does.
  public var tracer: (any ChainTracer)?

  /// A configuration, each value with its default.
  public init(
    requestTimeout: Double? = nil, writeResultsToCache: Bool = true, additionalHeaders: HTTPHeaders = [:],
    tracer: (any ChainTracer)? = nil
  ) {
    self.requestTimeout = requestTimeout
    self.writeResultsToCache = writeResultsToCache
    self.additionalHeaders = additionalHeaders
    self.tracer = tracer
  }
}
