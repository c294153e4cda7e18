public import Carabiner
public import Dispatch
public import FoundationEssentials

extension HTTPNetworkTransport {
  /// Runs an operation without the cache.
  ///
  /// - Parameters:
  ///   - operation: A query or a mutation.
  ///   - completionHandler: Gets the response, once, on ``Callbacks/defaultQueue``.
  /// - Returns: The request. If it is cancelled, its handler gets a `CancellationError`.
  @discardableResult
  public func send<Operation: GraphQLOperation>(
    operation: Operation, completionHandler: @escaping (Result<Carabiner.GraphQLResponse<Operation>, any Error>) -> Void
  ) -> any Cancellable {
    start(DelegatedRun(operation, policy: .fetchIgnoringCacheCompletely), nil, Callbacks.defaultQueue, completionHandler) { $0 }
  }

  /// Runs an operation. The store is that of the client that calls it; without a client there is none.
  public func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy, contextIdentifier: UUID?, context: (any RequestContext)?,
    callbackQueue: DispatchQueue, completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    startResults(
      DelegatedRun(operation, policy: cachePolicy, identifier: contextIdentifier), context, callbackQueue, completionHandler)
  }

  public func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)?, callbackQueue: DispatchQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    startResults(
      DelegatedRun(operation, policy: .fetchIgnoringCacheData, files: files), context, callbackQueue, completionHandler)
  }

  private func startResults<Operation: GraphQLOperation>(
    _ run: DelegatedRun<Operation>, _ context: (any RequestContext)?, _ queue: DispatchQueue,
    _ completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    start(run, context, queue, completion) { response in
      try GraphQLResult(
        response, source: response.source == .cache ? .cache : .server,
        records: Carabiner.ApolloStore.records(of: response.body, operation: run.operation), policy: run.store?.core.policy)
    }
  }

  private func start<Operation: GraphQLOperation, Value>(
    _ run: DelegatedRun<Operation>, _ context: (any RequestContext)?, _ queue: DispatchQueue,
    _ completion: @escaping (Result<Value, any Error>) -> Void,
    _ value: @escaping @Sendable (Carabiner.GraphQLResponse<Operation>) throws -> Value
  ) -> any Cancellable {
    let request = run.request(to: self, timeout: (context as? any RequestContextTimeoutConfigurable)?.requestTimeout)
    // Calls that the delegate or the callback makes are not those of this client.
    return ClientStore.$current.withValue(nil) {
      let call = DelegateCall(queue: queue, completion)
      call.keep(
        Task(executorPreference: QueueExecutor.background) {
          await PublishOrigin.$current.withValue(run.identifier.map { PublishOrigin(id: $0) }) {
            await self.run(run, request, call, value)
          }
        })
      return call
    }
  }

  private func run<Operation: GraphQLOperation, Value>(
    _ run: DelegatedRun<Operation>, _ request: DelegatedRequest<Operation>, _ call: DelegateCall<Value>,
    _ value: (Carabiner.GraphQLResponse<Operation>) throws -> Value
  ) async {
    do {
      // The results of a deferred response are complete in its last one. A cached result before that of the server is its own outcome.
      var last: Carabiner.GraphQLResponse<Operation>?
      for try await response in try chain(run, request).send(request) {
        guard response.source == .cache, run.policy == .returnCacheDataAndFetch else {
          last = response
          continue
        }
        call.deliver(Result { try value(response) }, isLast: false)
      }
      if let last { call.deliver(Result { try value(last) }, isLast: true) }
    } catch {
      call.deliver(.failure(Task.isCancelled ? CancellationError() : run.named(error, request.context)), isLast: true)
    }
  }

  private func chain<Operation: GraphQLOperation>(
    _ run: DelegatedRun<Operation>, _ request: DelegatedRequest<Operation>
  ) throws -> Carabiner.RequestChainNetworkTransport {
    guard run.operation.operationType != .subscription else {
      throw RequestChainError(
        .invalidRequest,
        "HTTPNetworkTransport runs no subscription, because it reads whole responses; send "
          + "\(run.operation.operationName ?? "it") over RequestChainNetworkTransport or a WebSocket")
    }
    return Carabiner.RequestChainNetworkTransport(
      interceptorProvider: DelegateProvider(transport: self, start: request), endpointURL: url,
      httpTransport: try client.map { ClientHTTPTransport(client: $0) } ?? session.transport(),
      store: run.store?.core ?? Carabiner.ApolloStore(), maximumAttempts: maximumAttempts)
  }
}

/// An operation that a transport runs, and how it uses the store.
private struct DelegatedRun<Operation: GraphQLOperation>: Sendable {
  let operation: Operation
  let policy: CachePolicy
  let identifier: UUID?
  let files: [GraphQLFile]?
  let store: ApolloStore?

  init(_ operation: Operation, policy: CachePolicy, identifier: UUID? = nil, files: [GraphQLFile]? = nil) {
    self.operation = operation
    self.policy = policy
    self.identifier = identifier
    self.files = files
    store = ClientStore.current
  }

  func request(to transport: HTTPNetworkTransport, timeout: TimeInterval?) -> DelegatedRequest<Operation> {
    DelegatedRequest(
      operation, to: transport.url, files: files, behavior: behavior,
      writesResults: store != nil && policy != .fetchIgnoringCacheCompletely,
      options: DelegatedRequestOptions(
        sendsIdentifiers: transport.sendOperationIdentifiers, usesGETForQueries: transport.useGETForQueries,
        sendsHashes: transport.enableAutoPersistedQueries,
        usesGETForPersistedQueryRetry: transport.useGETForPersistedQueryRetry, bodies: Transferred(transport.requestCreator),
        clientName: transport.clientName, clientVersion: transport.clientVersion,
        sessionHeaders: transport.session.configuration.httpAdditionalHeaders ?? [:], timeout: timeout))
  }

  private var behavior: FetchBehavior {
    switch policy {
    case .returnCacheDataElseFetch: .cacheFirst
    case .returnCacheDataAndFetch: .cacheAndNetwork
    case .returnCacheDataDontFetch: .cacheOnly
    case .fetchIgnoringCacheData, .fetchIgnoringCacheCompletely: .networkOnly
    }
  }

  /// The error as a type of this generation.
  func named(_ error: any Error, _ context: Carabiner.RequestContext) -> any Error {
    guard let chain = error as? RequestChainError else { return error }
    switch chain.code {
    case .noResults where policy == .returnCacheDataDontFetch && operation.operationType == .query:
      return CacheMissError(operationName: operation.operationName)
    case .retryLimit:
      guard let reason = context[DelegateRetryReason.self] else { return error }
      return RequestChainError(.retryLimit, "\(chain.message); the last error was: \(reason.text)")
    default: return error
    }
  }
}
