/// Runs GraphQL operations.
public final class ApolloClient: Sendable {
  /// Runs the operations.
  public let networkTransport: any NetworkTransport
  /// The store that the cache stage of the transport uses.
  public let store: ApolloStore

  /// Creates a client with a transport and a store.
  public init(networkTransport: any NetworkTransport, store: ApolloStore) {
    self.networkTransport = networkTransport
    self.store = store
  }

  /// Creates a client with a request chain and the chain's own store.
  public convenience init(networkTransport: RequestChainNetworkTransport) {
    self.init(networkTransport: networkTransport, store: networkTransport.store)
  }

  // MARK: Queries

  /// Runs a query and returns its first result.
  ///
  /// An operation with `@defer` may have more results: read them with ``results(of:cachePolicy:configuration:)``.
  ///
  /// - Throws: ``RequestChainError``, ``ResponseParsingError``, ``TransportError``, ``ResponseCodeError``, or the error of an
  ///   interceptor; `CancellationError` if the task was cancelled. GraphQL errors are not thrown: see ``GraphQLResponse/errors``.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy.Query.SingleResponse,
    configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Query> {
    try await first(of: query, cachePolicy.fetchBehavior, configuration)
  }

  /// Runs a query with any policy and returns its first result.
  ///
  /// It is disfavoured, so that `.cacheFirst` selects the overload for policies with exactly one result.
  @_disfavoredOverload
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Query> {
    try await first(of: query, cachePolicy.fetchBehavior, configuration)
  }

  /// Reads a query from the cache.
  ///
  /// - Returns: The stored result, or nil if there is none.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy.Query.CacheOnly, configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Query>? {
    do {
      return try await first(of: query, .cacheOnly, configuration)
    } catch let error as RequestChainError where error.code == .noResults {
      return nil
    }
  }

  /// Runs a query and returns the cached result, if there is one, and then the result of the server.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy.Query.CacheAndNetwork,
    configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> PullStream<GraphQLResponse<Query>> {
    try networkTransport.send(query, fetchBehavior: .cacheAndNetwork, configuration: configuration)
  }

  // MARK: Subscriptions

  /// Subscribes and returns a stream of results, with the cached result first unless the policy is `networkOnly`.
  ///
  /// The subscription starts when the first result is read. To end it, release the stream or cancel the task that reads it.
  ///
  /// - Returns: The results and the state of the subscription. Reading it throws the errors of the chain and of interceptors, and
  ///   ``SubscriptionError`` if the server ends the subscription with errors.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, cachePolicy: CachePolicy.Subscription = .default,
    configuration: RequestConfiguration = RequestConfiguration()
  ) throws -> SubscriptionStream<Subscription> {
    let progress = SubscriptionProgress()
    var configuration = configuration
    configuration.subscription = progress
    return SubscriptionStream(
      try networkTransport.send(subscription, fetchBehavior: cachePolicy.fetchBehavior, configuration: configuration), progress)
  }

  // MARK: Mutations and operations known at run time

  /// Runs a mutation and returns its result. It never reads the cache.
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Mutation> {
    try await first(of: mutation, .networkOnly, configuration)
  }

  /// Runs an operation of any kind and returns its results as they arrive.
  @_specialize(where Operation == DynamicOperation)
  public func results<Operation: GraphQLOperation>(
    of operation: Operation, cachePolicy: CachePolicy = .default,
    configuration: RequestConfiguration = RequestConfiguration()
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let behavior: FetchBehavior =
      switch operation.operationType {
      case .query: cachePolicy.fetchBehavior
      case .mutation: .networkOnly
      // A cached result does not replace the subscription.
      case .subscription: cachePolicy == .cacheFirst ? .cacheAndNetwork : cachePolicy.fetchBehavior
      }
    return try networkTransport.send(operation, fetchBehavior: behavior, configuration: configuration)
  }

  // MARK: Uploads

  /// Runs an operation whose variables include files, and returns its result.
  ///
  /// Files of any length are read from disk while they are sent.
  ///
  /// - Parameters:
  ///   - operation: The operation, without the variables that are files.
  ///   - files: The files, each with the path of its variable. The variables of the operation must leave these paths out.
  ///   - configuration: The options of this request.
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if the transport cannot upload files; otherwise the same errors as
  ///   ``perform(mutation:configuration:)``.
  public func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Operation> {
    try await first(of: results(of: operation, uploading: files, configuration: configuration), operation)
  }

  /// Runs an operation whose variables include files, and returns its results as they arrive.
  public func results<Operation: GraphQLOperation>(
    of operation: Operation, uploading files: [GraphQLFile], configuration: RequestConfiguration = RequestConfiguration()
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    guard let transport = networkTransport as? any UploadingNetworkTransport else {
      throw RequestChainError.cannotUpload(networkTransport)
    }
    return try transport.upload(operation, files: files, configuration: configuration)
  }

  /// The first result. The rest is cancelled when the stream is released.
  private func first<Operation: GraphQLOperation>(
    of operation: Operation, _ behavior: FetchBehavior, _ configuration: RequestConfiguration
  ) async throws -> GraphQLResponse<Operation> {
    try await first(
      of: try networkTransport.send(operation, fetchBehavior: behavior, configuration: configuration), operation)
  }

  private func first<Operation: GraphQLOperation>(
    of results: PullStream<GraphQLResponse<Operation>>, _ operation: Operation
  ) async throws -> GraphQLResponse<Operation> {
    switch try await results.pull() {
    case .element(let response), .last(let response):
      // Fail here, and not when the caller reads the data.
      if Operation.self != DynamicOperation.self { _ = try response.data }
      return response
    case .end:
      throw RequestChainError(
        .noResults, "\(operation.displayName) has no result: the transport ended its stream; check the transport")
    }
  }
}
