public import Carabiner

/// Reads queries from the store, as their cache policy says.
open class CacheReadInterceptor: ApolloInterceptor {
  private let store: ApolloStore

  /// An interceptor that reads from `store`.
  public init(store: ApolloStore) { self.store = store }

  open func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    let policy = request.cachePolicy
    guard request.operation.operationType == .query, policy.readsCache else {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    // A retry does not deliver the value again.
    if policy == .returnCacheDataAndFetch, chain.requestMemory?.deliveredPolicy == policy {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    store.read(request.operation) { found in
      switch found {
      case .success(let value):
        chain.requestMemory?.deliveredPolicy = policy
        chain.returnValueAsync(for: request, value: value, completion: completion)
        guard policy == .returnCacheDataAndFetch else { return }
      case .failure(let error):
        if policy == .returnCacheDataDontFetch {
          return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
        }
      }
      chain.proceedAsync(request: request, response: response, completion: completion)
    }
  }
}

extension CachePolicy {
  fileprivate var readsCache: Bool {
    switch self {
    case .returnCacheDataElseFetch, .returnCacheDataDontFetch, .returnCacheDataAndFetch: true
    case .fetchIgnoringCacheData, .fetchIgnoringCacheCompletely: false
    }
  }
}
