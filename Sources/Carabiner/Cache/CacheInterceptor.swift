/// A step that reads results from a store and writes them to it.
public protocol CacheInterceptor: ChainStage {
  /// Reads a result. Returns nil if the store does not have it.
  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore,
    request: Request
  ) async throws -> GraphQLResponse<Request.Operation>?

  /// Writes a result of the server. If it throws, the error is logged and counted, and the caller still receives the result.
  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore,
    request: Request,
    response: ParsedResult<Request.Operation>
  ) async throws
}

/// Reads and writes the store without changes.
public struct DefaultCacheInterceptor: CacheInterceptor {
  public var stageName: String { "store" }

  /// Whether results with GraphQL errors are stored.
  public var storesResultsWithErrors: Bool

  /// Creates a cache step. By default, results with errors are stored.
  public init(storesResultsWithErrors: Bool = true) {
    self.storesResultsWithErrors = storesResultsWithErrors
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    try await store.load(request.operation)
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    guard storesResultsWithErrors || !response.result.hasErrors else { return }
    if let records = response.cacheRecords { try await store.publish(records: records) }
  }
}
