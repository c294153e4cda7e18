public import Carabiner
internal import CarabinerHost
internal import Foundation

/// Provides the interceptors of a host's manifest, to be combined with others.
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
/// An operation uses the interceptors of the generation that serves when it starts. The manifest's endpoint, headers and
/// transport settings are not used: those of the transport that the provider is passed to apply.
public struct ManifestProvider: InterceptorProvider {
  private let host: PluginHost

  /// Creates a provider for this host's manifest.
  public init(_ host: PluginHost) { self.host = host }

  /// Returns the interceptors of the serving generation for one request.
  ///
  /// - Throws: Errors of plugins that cannot start a request.
  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    let lease = GenerationLease(host.live) { _ in UUID().uuidString }
    var interceptors = try lease.generation.host.chain.interceptors(for: operation, context: context)
    interceptors.graphQL.append(LeaseKeeper(lease: lease))
    return interceptors
  }
}

/// Holds a lease until the request that has its interceptors is over.
private struct LeaseKeeper: GraphQLInterceptor {
  let lease: GenerationLease

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request)
  }

  func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { true }
}
