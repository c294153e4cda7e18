/// Runs GraphQL operations.
public final class ApolloClient: Sendable {
  /// What runs the operations.
  public let networkTransport: any NetworkTransport
  /// The store the transport's cache stage uses.
  public let store: ApolloStore

  /// A client over a transport.
  public init(networkTransport: any NetworkTransport, store: ApolloStore) {
    self.networkTransport = networkTransport
    self.store = store
  }

  /// A client over a request chain, with the chain's own store.
  public convenience init(networkTransport: RequestChainNetworkTransport) {
    self.init(networkTransport: networkTransport, store: networkTransport.store)
  }

  // MARK: Queries

  /// Runs a query and brings its one result.
  ///
  /// - Throws: What the chain or an interceptor throws; `CancellationError` if the task was cancelled.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy.Query.SingleResponse,
    configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Query> {
    try await first(of: query, cachePolicy.fetchBehavior, configuration)
  }

  /// Runs a query as a policy says; a policy with several results brings its first.
  ///
  /// Disfavoured, so that `.cacheFirst` by itself means the policy with exactly one result.
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

  /// Runs a query and brings the cached result, if there is one, and then the server's.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy.Query.CacheAndNetwork,
    configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> PullStream<GraphQLResponse<Query>> {
    try networkTransport.send(query, fetchBehavior: .cacheAndNetwork, configuration: configuration)
  }

  // MARK: Subscriptions

  /// Subscribes, and brings each result as it comes; before the first of the server what the cache has, unless told otherwise.
  ///
  /// The subscription ends with the stream, and when the task that reads it is cancelled. The stream also tells where the
  /// subscription is, which begins as soon as somebody asks for the first result.
  ///
  /// - Throws: While it is read: what the chain or an interceptor throws, ``SubscriptionError`` if the server ends with errors.
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

  /// Runs a mutation and brings its result.
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Mutation> {
    try await first(of: mutation, .networkOnly, configuration)
  }

  /// Runs an operation of any kind and brings its results as they come.
  @_specialize(where Operation == DynamicOperation)
  public func results<Operation: GraphQLOperation>(
    of operation: Operation, cachePolicy: CachePolicy = .default,
    configuration: RequestConfiguration = RequestConfiguration()
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let behavior: FetchBehavior =
      switch operation.operationType {
      case .query: cachePolicy.fetchBehavior
      case .mutation: .networkOnly
      // A result in the cache is no reason not to subscribe.
      case .subscription: cachePolicy == .cacheFirst ? .cacheAndNetwork : cachePolicy.fetchBehavior
      }
    return try networkTransport.send(operation, fetchBehavior: behavior, configuration: configuration)
  }

  // MARK: Uploads

  /// Runs an operation some of whose variables are files, and brings its result.
  ///
  /// The files are read while they are sent, however long they are.
  ///
  /// - Parameters:
  ///   - operation: The operation, without the variables that are files.
  ///   - files: The files, each with the variable whose value it is.
  ///   - configuration: The options of this request.
  public func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration = RequestConfiguration()
  ) async throws -> GraphQLResponse<Operation> {
    try await first(of: results(of: operation, uploading: files, configuration: configuration), operation)
  }

  /// Runs an operation some of whose variables are files, and brings its results as they come.
  public func results<Operation: GraphQLOperation>(
    of operation: Operation, uploading files: [GraphQLFile], configuration: RequestConfiguration = RequestConfiguration()
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    guard let transport = networkTransport as? any UploadingNetworkTransport else {
      throw RequestChainError.cannotUpload(networkTransport)
    }
    return try transport.upload(operation, files: files, configuration: configuration)
  }

  /// The first result; what would follow is cancelled with the stream.
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
      // A typed value that does not fit is an error of the fetch, not a surprise later.
      if Operation.self != DynamicOperation.self { _ = try response.data }
      return response
    case .end:
      throw RequestChainError(.noResults, "\(operation.displayName) brought no result")
    }
  }
}
