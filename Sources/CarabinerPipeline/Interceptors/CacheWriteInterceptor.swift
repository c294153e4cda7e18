public import Carabiner

/// Writes results to the store, and proceeds when they are written.
///
/// A failure to write is logged and counted by the store; the result goes on.
open class CacheWriteInterceptor: ApolloInterceptor {
  /// There is nothing to write.
  public enum CacheWriteError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the network.
    case noResponseToParse

    public var description: String {
      "CacheWriteInterceptor has no response; put it behind NetworkFetchInterceptor and JSONResponseParsingInterceptor"
    }
  }

  private let store: ApolloStore

  /// An interceptor that writes to `store`.
  public init(store: ApolloStore) { self.store = store }

  open func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard request.cachePolicy != .fetchIgnoringCacheCompletely else {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    guard let response else {
      return chain.handleErrorAsync(
        CacheWriteError.noResponseToParse, request: request, response: response, completion: completion)
    }
    guard let records = response.cacheRecords, !records.isEmpty else {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    let name = request.operation.operationName
    store.write(records, identifier: request.contextIdentifier, operationName: name) { _ in
      chain.proceedAsync(request: request, response: response, completion: completion)
    }
  }
}
