public import Carabiner

/// Passes each response on.
///
/// Parts are split where they arrive, so each response that reaches an interceptor is the JSON of one result. The interceptor exists for
/// lists that contain it.
public struct MultipartResponseParsingInterceptor: ApolloInterceptor {
  /// Creates an interceptor.
  public init() {}

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}
