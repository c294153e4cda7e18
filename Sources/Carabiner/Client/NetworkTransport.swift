/// Runs operations for a client.
public protocol NetworkTransport: Sendable {
  /// Runs an operation.
  ///
  /// - Returns: The results, which are produced when they are read.
  /// - Throws: ``RequestChainError`` with code `invalidRequest`. All other errors are thrown by the stream.
  func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>>
}

/// Runs operations, and uploads files with them.
public protocol UploadingNetworkTransport: NetworkTransport {
  /// Runs an operation whose variables include files.
  ///
  /// - Returns: The results, which are produced when they are read.
  func upload<Operation: GraphQLOperation>(
    _ operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>>
}

/// The settings of one request.
public struct RequestConfiguration: Sendable {
  /// The timeout of one attempt in seconds, including interceptors; nil for no limit.
  public var requestTimeout: Double?
  /// Whether results from the server are written to the cache.
  public var writeResultsToCache: Bool
  /// Headers of this request. They replace headers of the transport with the same name.
  public var additionalHeaders: HTTPHeaders
  /// The format of the operation in an HTTP request; nil for the options of the transport.
  public var wireOptions: WireOptions?
  /// The tracer that gets an event for each step; nil to trace nothing.
  public var tracer: (any ChainTracer)?
  /// The path of a gateway at which the operation arrived, for rules that depend on it; nil if there is none.
  package var route: String?
  /// The files that belong to the operation, and are still arriving; nil if there are none.
  package var form: UploadedForm?
  /// Whether the caller takes a body, or results of a subscription, that are passed on, if no stage reads it.
  package var takesPassedBody = false
  /// The state of a subscription, which the chain updates. The client sets it.
  public internal(set) var subscription: SubscriptionProgress?

  /// Creates a configuration.
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
