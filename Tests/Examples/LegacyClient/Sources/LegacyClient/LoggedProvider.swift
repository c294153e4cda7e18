import CarabinerPipeline

/// The default list of 0.3x with an interceptor of this program at either end.
final class LoggedProvider: LegacyInterceptorProvider {
  override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    var interceptors = super.interceptors(for: operation)
    interceptors.insert(LogInterceptor(), at: 0)
    interceptors.append(LogInterceptor())
    return interceptors
  }
}

/// Prints whether an operation goes to the network or returns from it.
final class LogInterceptor: ApolloInterceptor {
  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    let name = request.operation.operationName ?? "unnamed operation"
    print(response.map { "\(name): status \($0.httpResponse.statusCode)" } ?? "\(name): begins")
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}
