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
///
/// For a call that is not GraphQL, ask for the interceptors of a ``Carabiner/DynamicOperation`` with an empty document, and use the
/// HTTP interceptors. The rules of the manifest match its name and its type:
///
/// ```swift
/// let call = DynamicOperation(document: "", operationName: "shop.v1.Carts/Get", operationType: .query)
/// let interceptors = try manifest.interceptors(for: call, context: RequestContext()).http
/// ```
public struct ManifestProvider: InterceptorProvider {
  private let host: PluginHost

  /// Creates a provider for this host's manifest.
  public init(_ host: PluginHost) { self.host = host }

  /// Creates a host for a manifest, and a provider for it.
  ///
  /// - Parameters:
  ///   - path: The file of the manifest, YAML or JSON.
  ///   - configuration: The settings that a manifest does not have.
  /// - Throws: ``ServerError`` with all problems of the manifest, and errors of the store and the transports.
  public init(manifest path: String, configuration: PluginHost.Configuration = PluginHost.Configuration()) async throws {
    host = try await PluginHost(manifest: path, configuration: configuration)
  }

  /// The store of the serving generation, which plugins also use. Pass it to the transport that uses this provider.
  public var store: ApolloStore { host.transport.store }

  /// Returns the interceptors of the serving generation for one request.
  ///
  /// - Throws: Errors of plugins that cannot start a request.
  public func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    let lease = GenerationLease(host.live) { _ in UUID().uuidString }
    var interceptors = try lease.generation.host.chain.interceptors(for: operation, context: context)
    if operation.document.isEmpty {
      // Only the HTTP interceptors of such a call are used.
      interceptors.http.insert(ResponseLeaseKeeper(lease: lease), at: 0)
    } else {
      interceptors.graphQL.append(LeaseKeeper(lease: lease))
    }
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

/// Keeps a generation until the response of a call has been read, or was released.
private struct ResponseLeaseKeeper: HTTPInterceptor {
  let lease: GenerationLease

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let response = try await next(request)
    let lease = lease
    return HTTPResponse(
      response: response.response,
      chunks: PullStream {
        defer { withExtendedLifetime(lease) {} }
        return try await response.chunks.pull()
      })
  }
}
