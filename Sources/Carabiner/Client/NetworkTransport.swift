/// Runs operations for a client.
public protocol NetworkTransport: Sendable {
  /// Runs an operation and brings its results.
  func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>>
}

/// Runs operations, and uploads files with them.
public protocol UploadingNetworkTransport: NetworkTransport {
  /// Runs an operation some of whose variables are files, and brings its results.
  func upload<Operation: GraphQLOperation>(
    _ operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration
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
  /// How the operation is put into an HTTP request; nil for what the transport does.
  public var wireOptions: WireOptions?
  /// Who is told what each stage does.
  public var tracer: (any ChainTracer)?
  /// Who is told the state of a subscription; the client sets it.
  public internal(set) var subscription: SubscriptionProgress?

  /// A configuration, each value with its default.
  public init(
    requestTimeout: Double? = nil, writeResultsToCache: Bool = true, additionalHeaders: HTTPHeaders = [:],
    wireOptions: WireOptions? = nil, tracer: (any ChainTracer)? = nil
  ) {
    self.requestTimeout = requestTimeout
    self.writeResultsToCache = writeResultsToCache
    self.additionalHeaders = additionalHeaders
    self.wireOptions = wireOptions
    self.tracer = tracer
  }
}
