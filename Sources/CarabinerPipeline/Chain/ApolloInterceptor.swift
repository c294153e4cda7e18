public import Carabiner

/// A step of a request chain.
///
/// A step does its work on any thread and at any time, and then calls one of the methods of `chain`. A chain reports
/// ``InterceptorRequestChain/ChainError/abandoned(by:)`` if a step releases `chain` and `completion` and has used neither.
public protocol ApolloInterceptor {
  /// The name of this step for ``RequestChain/proceedAsync(request:response:interceptor:completion:)``.
  ///
  /// By default, each instance of a class has its own, and a value has that of its type.
  var id: String { get }

  /// Does the work of this step.
  ///
  /// - Parameters:
  ///   - chain: The chain, at the place of this step.
  ///   - request: The request. Later steps and retries see its changes.
  ///   - response: The response; nil before the network.
  ///   - completion: Delivers a result to the caller. Pass it on, or a closure that calls it.
  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)
}

extension ApolloInterceptor {
  public var id: String {
    let type = type(of: self)
    guard type is AnyClass else { return String(reflecting: type) }
    return "\(String(reflecting: type))(\(ObjectIdentifier(self as AnyObject).hashValue))"
  }
}

/// Sees each error before the caller.
public protocol ApolloErrorInterceptor {
  /// Calls `completion` with the error, another error or a value, or calls `chain.retry`.
  ///
  /// If it does neither and keeps nothing, the caller receives the error. An error that it reports with `chain.handleErrorAsync` goes to
  /// the caller.
  func handleErrorAsync<Operation: GraphQLOperation>(
    error: any Error, chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)
}

/// Makes the interceptors of each operation.
public protocol InterceptorProvider {
  /// The interceptors, in order. It is called once for each operation; retries use the same instances.
  func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor]

  /// The interceptor that sees each error before the caller; nil, which is the default, for none.
  func additionalErrorInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> (any ApolloErrorInterceptor)?
}

extension InterceptorProvider {
  public func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { nil }
}
