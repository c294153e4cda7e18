internal import Carabiner

/// The interceptors of one request of a ``HTTPNetworkTransport``.
struct DelegateProvider: Carabiner.InterceptorProvider {
  let transport: HTTPNetworkTransport
  /// The request of the caller.
  let start: any Sendable

  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: Carabiner.RequestContext
  ) throws -> RequestInterceptors {
    var made =
      try transport.stages?.interceptors(for: operation, context: context)
      ?? RequestInterceptors(
        graphQL: [], cache: DefaultCacheInterceptor(), http: [], parser: Carabiner.JSONResponseParsingInterceptor())
    // It uses the options of the request. If a manifest's interceptor for hashes is before it, it has nothing to do.
    made.graphQL.append(Carabiner.AutomaticPersistedQueryInterceptor())
    made.graphQL.append(DelegateRetryInterceptor(transport, startingWith: start))
    made.http = made.http.map { $0 is Carabiner.ResponseCodeInterceptor ? DelegateStatusInterceptor() : $0 }
    if !made.http.contains(where: { $0 is DelegateStatusInterceptor }) { made.http.insert(DelegateStatusInterceptor(), at: 0) }
    made.http.append(
      DelegatePreflightInterceptor(
        transport, context: context, maximumBodyBytes: transport.maximumBodyBytes, checksStatus: false))
    return made
  }
}
