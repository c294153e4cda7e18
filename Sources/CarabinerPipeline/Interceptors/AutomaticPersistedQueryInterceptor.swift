public import Carabiner

/// Sends a request again, with its document, if the server does not know its hash.
///
/// It acts on a ``JSONRequest`` that sends hashes. Put it after ``JSONResponseParsingInterceptor``.
public struct AutomaticPersistedQueryInterceptor: ApolloInterceptor {
  /// A persisted query failed.
  public enum APQError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the parser.
    case noParsedResponse
    /// The server does not know the hash, although it was sent with its document.
    case persistedQueryRetryFailed(operationName: String)
    /// The server does not know the hash, and the operation has no document.
    case persistedQueryNotFoundForPersistedOnlyQuery(operationName: String)

    public var description: String {
      switch self {
      case .noParsedResponse:
        "there is no parsed response; put AutomaticPersistedQueryInterceptor behind JSONResponseParsingInterceptor"
      case .persistedQueryRetryFailed(let name):
        "the server did not find the persisted query \(name) although it was sent with its document; turn persisted queries off, or "
          + "check the store of the server"
      case .persistedQueryNotFoundForPersistedOnlyQuery(let name):
        "the server does not know the persisted query \(name), which has no document; register it with the server"
      }
    }
  }

  /// Creates an interceptor.
  public init() {}

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let json = request as? JSONRequest<Operation>, json.sendsHash else {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    func fail(_ error: APQError) {
      chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    guard let result = response?.parsedResponse else { return fail(.noParsedResponse) }
    let name = request.operation.operationName ?? ""
    switch PersistedQueryRefusal(result.errors ?? []) {
    case .notSupported: json.refusePersistedQueries()
    case .notFound:
      if json.isPersistedQueryRetry { return fail(.persistedQueryRetryFailed(operationName: name)) }
      if request.operation.document.isEmpty { return fail(.persistedQueryNotFoundForPersistedOnlyQuery(operationName: name)) }
      json.isPersistedQueryRetry = true
    case nil: return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    chain.retry(request: request, completion: completion)
  }
}
