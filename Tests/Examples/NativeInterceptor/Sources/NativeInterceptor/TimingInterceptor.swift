import Carabiner

/// Prints each result of an operation with the time since the operation began.
struct TimingInterceptor: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let name = request.operation.operationName ?? "unnamed operation"
    let start = ContinuousClock.now
    return await next(request).map { parsed in
      print("\(name): a result from the \(parsed.result.source.rawValue) after \(ContinuousClock.now - start)")
      return parsed
    }
  }
}
