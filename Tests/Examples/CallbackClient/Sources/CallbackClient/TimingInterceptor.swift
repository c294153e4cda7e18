import CarabinerPipeline

/// Prints each result of an operation with the time since the operation began.
struct TimingInterceptor: ApolloInterceptor {
  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    let name = request.operation.operationName ?? "unnamed operation"
    let start = ContinuousClock.now
    chain.proceedAsync(request: request, response: response) { result in
      print("\(name): a result after \(ContinuousClock.now - start)")
      completion(result)
    }
  }
}
