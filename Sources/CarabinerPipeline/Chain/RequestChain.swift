public import Carabiner

/// The chain of one request, as its interceptors see it.
///
/// Any thread may call any method. Callbacks arrive on the queue of the caller, in the order of the calls here.
public protocol RequestChain: Cancellable {
  /// Runs the first interceptor.
  func kickoff<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Runs the next interceptor before it returns. After the last one, the parsed response goes to the caller.
  func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Runs the interceptor after `interceptor`.
  func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?, interceptor: any ApolloInterceptor,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Ends this pass, and starts again with the first interceptor and without a response.
  func retry<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Reports an error: to the additional error interceptor, and then to the caller. The chain does not end.
  func handleErrorAsync<Operation: GraphQLOperation>(
    _ error: any Error, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Delivers a value to the caller. The chain does not end.
  func returnValueAsync<Operation: GraphQLOperation>(
    for request: HTTPRequest<Operation>, value: GraphQLResult<Operation.Data>,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void)

  /// Whether the chain was cancelled.
  var isCancelled: Bool { get }
}

extension RequestChain {
  /// The errors of a chain.
  public typealias ChainError = InterceptorRequestChain.ChainError

  /// Whether the chain was not cancelled.
  public var isNotCancelled: Bool { !isCancelled }
}
