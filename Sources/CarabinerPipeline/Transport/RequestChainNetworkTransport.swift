public import Carabiner
public import Dispatch
public import FoundationEssentials

/// Runs each operation through a chain of its own.
open class RequestChainNetworkTransport: UploadingNetworkTransport {
  /// The default of ``maximumAttempts``.
  public static let defaultMaximumAttempts = InterceptorRequestChain.defaultMaximumAttempts

  /// Makes the interceptors of each operation.
  public let interceptorProvider: any InterceptorProvider
  /// The URL of the server.
  public let endpointURL: URL
  /// Header fields of every request. They do not replace those that a request sets itself.
  public private(set) var additionalHeaders: [String: String]
  /// Whether hashes are sent in place of documents.
  public let autoPersistQueries: Bool
  /// Makes the bodies of requests.
  public let requestBodyCreator: any RequestBodyCreator
  /// Whether queries are sent with GET.
  public let useGETForQueries: Bool
  /// Whether a query with a hash is sent with GET, also when its document must be sent too.
  public let useGETForPersistedQueryRetry: Bool
  /// Whether requests name this library and its version.
  public let sendEnhancedClientAwareness: Bool
  /// How often a request may be started, retries included.
  public let maximumAttempts: Int
  /// The name of the client, used from the next request on.
  open var clientName = RequestChainNetworkTransport.defaultClientName
  /// The version of the client, used from the next request on.
  open var clientVersion = RequestChainNetworkTransport.defaultClientVersion
  /// Whether a request that is cancelled ends with a `CancellationError`. By default, it ends without a callback.
  open var reportsCancellation = false
  /// Whether the timeout of a ``RequestContextTimeoutConfigurable`` limits each attempt as a whole, interceptors included. By default, it
  /// limits the transfer.
  open var timeoutCoversInterceptors = false
  /// Receives an event for each step of each request, those of the core's interceptors and of the transfer included; nil for none.
  open var tracer: (any ChainTracer)?

  /// A transport to one endpoint.
  public init(
    interceptorProvider: any InterceptorProvider, endpointURL: URL, additionalHeaders: [String: String] = [:],
    autoPersistQueries: Bool = false, requestBodyCreator: any RequestBodyCreator = ApolloRequestBodyCreator(),
    useGETForQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false, sendEnhancedClientAwareness: Bool = true,
    maximumAttempts: Int = RequestChainNetworkTransport.defaultMaximumAttempts
  ) {
    self.interceptorProvider = interceptorProvider
    self.endpointURL = endpointURL
    self.additionalHeaders = additionalHeaders
    self.autoPersistQueries = autoPersistQueries
    self.requestBodyCreator = requestBodyCreator
    self.useGETForQueries = useGETForQueries
    self.useGETForPersistedQueryRetry = useGETForPersistedQueryRetry
    self.sendEnhancedClientAwareness = sendEnhancedClientAwareness
    self.maximumAttempts = maximumAttempts
  }

  /// A transport to one endpoint, whose bodies a creator of the 0.3x generation makes.
  public init(
    interceptorProvider: any InterceptorProvider, endpointURL: URL, additionalHeaders: [String: String] = [:],
    autoPersistQueries: Bool = false, requestCreator: any RequestCreator, useGETForQueries: Bool = false,
    useGETForPersistedQueryRetry: Bool = false
  ) {
    self.interceptorProvider = interceptorProvider
    self.endpointURL = endpointURL
    self.additionalHeaders = additionalHeaders
    self.autoPersistQueries = autoPersistQueries
    requestBodyCreator = RequestCreatorBody(creator: requestCreator)
    self.useGETForQueries = useGETForQueries
    self.useGETForPersistedQueryRetry = useGETForPersistedQueryRetry
    // The creator makes the whole body.
    sendEnhancedClientAwareness = false
    maximumAttempts = Self.defaultMaximumAttempts
  }

  // MARK: Requests

  /// The request of an operation. A subclass may return a request of its own.
  open func constructRequest<Operation: GraphQLOperation>(
    for operation: Operation, cachePolicy: CachePolicy, contextIdentifier: UUID? = nil, context: (any RequestContext)? = nil
  ) -> HTTPRequest<Operation> {
    JSONRequest(
      operation: operation, graphQLEndpoint: endpointURL, contextIdentifier: contextIdentifier, clientName: clientName,
      clientVersion: clientVersion, additionalHeaders: additionalHeaders, cachePolicy: cachePolicy, context: context,
      autoPersistQueries: autoPersistQueries, useGETForQueries: useGETForQueries,
      useGETForPersistedQueryRetry: useGETForPersistedQueryRetry, requestBodyCreator: requestBodyCreator,
      sendEnhancedClientAwareness: sendEnhancedClientAwareness)
  }

  /// The request of an upload. A subclass may return a request of its own.
  open func constructUploadRequest<Operation: GraphQLOperation>(
    for operation: Operation, with files: [GraphQLFile], context: (any RequestContext)? = nil, manualBoundary: String? = nil
  ) -> HTTPRequest<Operation> {
    UploadRequest(
      graphQLEndpoint: endpointURL, operation: operation, clientName: clientName, clientVersion: clientVersion,
      additionalHeaders: additionalHeaders, files: files, manualBoundary: manualBoundary, context: context,
      requestBodyCreator: requestBodyCreator, sendEnhancedClientAwareness: sendEnhancedClientAwareness)
  }

  // MARK: Sending

  open func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy = .default, contextIdentifier: UUID? = nil,
    context: (any RequestContext)? = nil, callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    start(
      constructRequest(
        for: operation, cachePolicy: cachePolicy, contextIdentifier: contextIdentifier, context: context),
      callbackQueue, completionHandler)
  }

  open func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)? = nil,
    callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    start(constructUploadRequest(for: operation, with: files, context: context), callbackQueue, completionHandler)
  }

  private func start<Operation: GraphQLOperation>(
    _ request: HTTPRequest<Operation>, _ callbackQueue: DispatchQueue,
    _ completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    let chain = InterceptorRequestChain(
      interceptors: interceptorProvider.interceptors(for: request.operation), callbackQueue: callbackQueue)
    chain.additionalErrorHandler = interceptorProvider.additionalErrorInterceptor(for: request.operation)
    chain.maximumAttempts = maximumAttempts
    chain.reportsCancellation = reportsCancellation
    chain.tracer = tracer
    if timeoutCoversInterceptors {
      chain.passTimeout = (request.context as? any RequestContextTimeoutConfigurable)?.requestTimeout
    }
    chain.kickoff(request: request, completion: completion)
    return chain
  }
}
