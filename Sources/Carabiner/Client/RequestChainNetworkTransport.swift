public import FoundationEssentials

/// Runs each operation through its own request chain.
public struct RequestChainNetworkTransport: UploadingNetworkTransport {
  /// The default of ``maximumAttempts``.
  public static let defaultMaximumAttempts = HTTPChain.defaultMaximumAttempts

  /// Creates the interceptors of each operation.
  public let interceptorProvider: any InterceptorProvider
  /// The URL of the server.
  public let endpointURL: URL
  /// Headers of every request.
  public let additionalHeaders: HTTPHeaders
  /// The format of operations in HTTP requests, unless a request has its own options.
  public let wireOptions: WireOptions
  private let transportKind: TransportKind
  /// The store that the cache stage reads and writes.
  public let store: ApolloStore
  /// The maximum number of attempts of a request, including retries of the operation and of the HTTP request. Above it, the
  /// request fails with ``RequestChainError/Code/retryLimit``.
  public let maximumAttempts: Int
  /// Observes the failures and retries that callers do not see.
  public let observer: any ChainObserver

  /// Creates a transport for one endpoint.
  public init(
    interceptorProvider: any InterceptorProvider = DefaultInterceptorProvider.shared, endpointURL: URL,
    httpTransport: any HTTPTransport, store: ApolloStore = ApolloStore(), additionalHeaders: HTTPHeaders = [:],
    wireOptions: WireOptions = WireOptions(), maximumAttempts: Int = Self.defaultMaximumAttempts,
    observer: any ChainObserver = CacheFailureLog()
  ) {
    self.init(
      interceptorProvider: interceptorProvider, endpointURL: endpointURL, transportKind: .http(httpTransport), store: store,
      additionalHeaders: additionalHeaders, wireOptions: wireOptions, maximumAttempts: maximumAttempts, observer: observer)
  }

  /// Creates a transport for one endpoint that does not use HTTP requests, for example over a WebSocket.
  ///
  /// GraphQL interceptors, cache and retries work as with HTTP. HTTP interceptors and the parser are not used.
  ///
  /// - Parameter additionalHeaders: Headers of every request, for a transport that sends headers of requests.
  public init(
    interceptorProvider: any InterceptorProvider = DefaultInterceptorProvider.shared, endpointURL: URL,
    resultTransport: any ResultTransport, store: ApolloStore = ApolloStore(), additionalHeaders: HTTPHeaders = [:],
    wireOptions: WireOptions = WireOptions(), maximumAttempts: Int = Self.defaultMaximumAttempts,
    observer: any ChainObserver = CacheFailureLog()
  ) {
    self.init(
      interceptorProvider: interceptorProvider, endpointURL: endpointURL, transportKind: .results(resultTransport), store: store,
      additionalHeaders: additionalHeaders, wireOptions: wireOptions, maximumAttempts: maximumAttempts, observer: observer)
  }

  private init(
    interceptorProvider: any InterceptorProvider, endpointURL: URL, transportKind: TransportKind, store: ApolloStore,
    additionalHeaders: HTTPHeaders, wireOptions: WireOptions, maximumAttempts: Int, observer: any ChainObserver
  ) {
    self.interceptorProvider = interceptorProvider
    self.endpointURL = endpointURL
    self.transportKind = transportKind
    self.store = store
    self.additionalHeaders = additionalHeaders
    self.wireOptions = wireOptions
    self.maximumAttempts = maximumAttempts
    self.observer = observer
  }

  // The host runs only dynamic operations. With the type known, the chain compiles to direct calls.
  @_specialize(where Operation == DynamicOperation)
  public func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let request = jsonRequest(operation, fetchBehavior: fetchBehavior, configuration: configuration)
    if let form = configuration.form { return try send(StreamedUploadRequest(request, form: form)) }
    return try send(request)
  }

  public func upload<Operation: GraphQLOperation>(
    _ operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let request = jsonRequest(operation, fetchBehavior: .networkOnly, configuration: configuration)
    return try send(UploadRequest(request, files: files))
  }

  /// The request for an operation, with the settings of transport and caller.
  private func jsonRequest<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) -> JSONRequest<Operation> {
    var headers = additionalHeaders
    if !configuration.additionalHeaders.isEmpty { headers.replace(with: configuration.additionalHeaders) }
    let wireOptions = configuration.wireOptions ?? wireOptions
    var request = JSONRequest(
      operation: operation, endpoint: endpointURL, additionalHeaders: headers, fetchBehavior: fetchBehavior,
      writeResultsToCache: configuration.writeResultsToCache, requestTimeout: configuration.requestTimeout,
      wireOptions: wireOptions,
      context: RequestContext(
        tracer: configuration.tracer, subscription: configuration.subscription, route: configuration.route,
        takesPassedBody: configuration.takesPassedBody))
    if Operation.self != DynamicOperation.self, wireOptions.completesDocuments, !wireOptions.persistedQueries.isPersistedOnly,
      let completed = store.documents.completed(operation.document)
    {
      request.wireOverrides.document = .replaced(completed)
    }
    return request
  }

  /// Runs a request of any kind.
  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func send<Request: GraphQLRequest>(
    _ request: Request
  ) throws -> PullStream<GraphQLResponse<Request.Operation>> {
    var interceptors = try interceptorProvider.interceptors(for: request.operation, context: request.context)
    var transportKind = transportKind
    if request.context.isTraced, let tracer = request.context.tracer {
      (interceptors, transportKind) = (interceptors.traced(by: tracer), transportKind.traced(by: tracer))
    }
    let chain = RequestChain<Request>(
      request, interceptors: interceptors, transportKind: transportKind, store: store, maximumAttempts: maximumAttempts,
      observer: observer)
    let execution = RequestExecution(chain: chain, request: request)
    return PullStream { try await execution.next() }
  }
}
