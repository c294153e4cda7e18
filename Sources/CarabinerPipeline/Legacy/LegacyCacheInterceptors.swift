public import Carabiner

/// Reads queries from the store, as their cache policy says.
open class LegacyCacheReadInterceptor: CacheReadInterceptor {}

/// Writes results to the store, and proceeds when they are written.
open class LegacyCacheWriteInterceptor: CacheWriteInterceptor {
  /// There is nothing to write.
  public enum LegacyCacheWriteError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the network.
    case noResponseToParse

    public var description: String {
      "LegacyCacheWriteInterceptor has no response; put it behind NetworkFetchInterceptor and LegacyParsingInterceptor"
    }
  }

  open override func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    if response == nil, request.cachePolicy != .fetchIgnoringCacheCompletely {
      return chain.handleErrorAsync(
        LegacyCacheWriteError.noResponseToParse, request: request, response: response, completion: completion)
    }
    super.interceptAsync(chain: chain, request: request, response: response, completion: completion)
  }
}
