public import Carabiner
public import Dispatch
public import FoundationEssentials

/// Runs GraphQL operations, with callbacks.
open class ApolloClient: ApolloClientProtocol {
  /// A call cannot be made.
  public enum ApolloClientError: DescribedError, Sendable, Hashable {
    /// The transport cannot upload files.
    case noUploadTransport

    public var description: String {
      "the transport cannot upload files; use one that conforms to UploadingNetworkTransport"
    }
  }

  /// Runs the operations.
  public let networkTransport: any NetworkTransport
  /// The store. Its interceptors must use the same.
  public let store: ApolloStore

  /// A client over a transport.
  public init(networkTransport: any NetworkTransport, store: ApolloStore = ApolloStore()) {
    self.networkTransport = networkTransport
    self.store = store
  }

  /// A client for a server, with the default interceptors and a store in memory.
  public convenience init(url: URL) {
    let store = ApolloStore()
    self.init(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: url),
      store: store)
  }

  open func clearCache(
    callbackQueue: DispatchQueue = Callbacks.defaultQueue, completion: ((Result<Void, any Error>) -> Void)? = nil
  ) {
    store.clearCache(callbackQueue: callbackQueue, completion: completion)
  }

  @discardableResult open func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, contextIdentifier: UUID? = nil, context: (any RequestContext)? = nil,
    queue: DispatchQueue = Callbacks.defaultQueue, resultHandler: GraphQLResultHandler<Query.Data>? = nil
  ) -> any Cancellable {
    send(query, cachePolicy, contextIdentifier, context, queue, resultHandler)
  }

  open func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, refetchOnFailedUpdates: Bool = true,
    context: (any RequestContext)? = nil, callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    resultHandler: @escaping GraphQLResultHandler<Query.Data>
  ) -> GraphQLQueryWatcher<Query> {
    let watcher = GraphQLQueryWatcher(
      client: self, query: query, refetchOnFailedUpdates: refetchOnFailedUpdates, context: context, callbackQueue: callbackQueue,
      resultHandler: resultHandler)
    watcher.fetch(cachePolicy: cachePolicy)
    return watcher
  }

  @discardableResult open func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, publishResultToStore: Bool = true, contextIdentifier: UUID? = nil,
    context: (any RequestContext)? = nil, queue: DispatchQueue = Callbacks.defaultQueue,
    resultHandler: GraphQLResultHandler<Mutation.Data>? = nil
  ) -> any Cancellable {
    let policy = publishResultToStore ? CachePolicy.default : .fetchIgnoringCacheCompletely
    return send(mutation, policy, contextIdentifier, context, queue, resultHandler)
  }

  @discardableResult open func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)? = nil,
    queue: DispatchQueue = Callbacks.defaultQueue, resultHandler: GraphQLResultHandler<Operation.Data>? = nil
  ) -> any Cancellable {
    guard let transport = networkTransport as? any UploadingNetworkTransport else {
      let handler = Transferred(resultHandler)
      Task(executorPreference: QueueExecutor(queue)) { handler.value?(.failure(ApolloClientError.noUploadTransport)) }
      return EmptyCancellable()
    }
    return ClientStore.$current.withValue(store) {
      transport.upload(operation: operation, files: files, context: context, callbackQueue: queue) { result in
        resultHandler?(result)
      }
    }
  }

  open func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, context: (any RequestContext)? = nil, queue: DispatchQueue = Callbacks.defaultQueue,
    resultHandler: @escaping GraphQLResultHandler<Subscription.Data>
  ) -> any Cancellable {
    send(subscription, .default, nil, context, queue, resultHandler)
  }

  private func send<Operation: GraphQLOperation>(
    _ operation: Operation, _ cachePolicy: CachePolicy, _ identifier: UUID?, _ context: (any RequestContext)?,
    _ queue: DispatchQueue, _ handler: GraphQLResultHandler<Operation.Data>?
  ) -> any Cancellable {
    ClientStore.$current.withValue(store) {
      networkTransport.send(
        operation: operation, cachePolicy: cachePolicy, contextIdentifier: identifier, context: context, callbackQueue: queue
      ) { result in handler?(result) }
    }
  }
}
