public import Carabiner
internal import CarabinerHost
internal import Foundation

/// The interceptors of a host's manifest, for a provider that mixes them with its own.
///
/// ```swift
/// struct MyProvider: InterceptorProvider {
///   let manifest: ManifestProvider
///
///   func interceptors<Operation: GraphQLOperation>(
///     for operation: Operation, context: RequestContext
///   ) throws -> RequestInterceptors {
///     var interceptors = try manifest.interceptors(for: operation, context: context)
///     interceptors.graphQL.insert(MyInterceptor(), at: 0)
///     return interceptors
///   }
/// }
/// ```
///
/// An operation keeps the interceptors of the generation that serves when it begins. The manifest's endpoint, headers and settings of
/// the transport do not count: they are those of the transport that the provider is given to.
public struct ManifestProvider: InterceptorProvider {
  private let host: PluginHost

  /// The interceptors of this host's manifest.
  public init(_ host: PluginHost) { self.host = host }

  /// The interceptors of the generation that serves, for one request.
  ///
  /// - Throws: Errors of plugins that cannot begin a request.
  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    let lease = GenerationLease(host.live) { _ in UUID().uuidString }
    var interceptors = try lease.generation.host.chain.interceptors(for: operation, context: context)
    interceptors.graphQL.append(LeaseKeeper(lease: lease))
    return interceptors
  }
}

/// Keeps a generation until the request that holds its interceptors is over.
private struct LeaseKeeper: GraphQLInterceptor {
  let lease: GenerationLease

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request)
  }

  func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { true }
}
