/// A list of interceptors, and where their results go.
final class InterceptorList: @unchecked Sendable {
  // Immutable. The interceptors are used as ``ApolloInterceptor`` says.

  let interceptors: [any ApolloInterceptor]
  /// Takes the results and errors of a list inside another; nil for the list of a chain, whose results go to the caller.
  let end: (any InterceptorListEnd)?

  init(_ interceptors: [any ApolloInterceptor], end: (any InterceptorListEnd)? = nil) {
    self.interceptors = interceptors
    self.end = end
  }

  // All places of the list are released, so no result can follow.
  deinit { end?.finished() }

  func name(at index: Int) -> String { String(describing: type(of: interceptors[index])) }
}

/// Where the results of a list inside another go.
protocol InterceptorListEnd: Sendable {
  /// A result passed the last interceptor.
  func reached<Operation: GraphQLOperation>(_ travel: Travel<Operation>)
  /// An interceptor reported an error.
  func failed(_ error: any Error)
  /// An interceptor delivered a result to the caller itself.
  func answered()
  /// No result follows.
  func finished()
}
