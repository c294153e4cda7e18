/// A step that reads results from a store and writes them to it.
public protocol CacheInterceptor: Sendable {
  /// Reads a result, or answers nil if there is none.
  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore,
    request: Request
  ) async throws -> GraphQLResponse<Request.Operation>?

  /// Writes a result from the server. An error is logged and counted; the caller gets the result all the same.
  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore,
    request: Request,
    response: ParsedResult<Request.Operation>
  ) async throws

  /// What a trace calls this step.
  var stageName: String { get }
  /// What the chain may take for granted about this step.
  var traits: StageTraits { get }
}

extension CacheInterceptor {
  public var stageName: String { String(describing: type(of: self)) }
  public var traits: StageTraits { [] }
}

/// Reads and writes the store as it is.
public struct DefaultCacheInterceptor: CacheInterceptor {
  public var stageName: String { "store" }

  /// Whether results that carry errors are kept.
  public var storesResultsWithErrors: Bool

  /// A cache step; results with errors are kept unless told otherwise.
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
