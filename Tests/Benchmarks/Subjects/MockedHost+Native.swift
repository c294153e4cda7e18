internal import Carabiner

/// An interceptor of the host program that maps every result.
private struct NativeMap: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).map { $0 }
  }
}

/// Interceptors of the host program after the first default interceptor.
private struct NativeProvider: InterceptorProvider {
  private let interceptors: [any GraphQLInterceptor]

  init(count: Int) { interceptors = [MaxRetryInterceptor()] + [any GraphQLInterceptor](repeating: NativeMap(), count: count) }

  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { interceptors }
}

extension MockedHost {
  /// A client whose chain has `count` interceptors of the host program. Each of them maps the results.
  package init(mapping count: Int) throws { try self.init(NativeProvider(count: count)) }
}
