public import Carabiner
internal import CarabinerBridge
internal import CarabinerProvider
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
/// An operation uses the interceptors of the generation that serves when it starts. The endpoint, headers and transport settings of
/// the manifest are not used. Those of the transport that uses this provider apply.
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
    let (lease, stages) = try leased(operation, context)
    var interceptors = stages
    if operation.document.isEmpty {
      // Only the HTTP interceptors of such a call are used.
      interceptors.http.insert(ResponseLeaseKeeper(lease: lease), at: 0)
    } else {
      interceptors.graphQL.append(LeaseKeeper(lease: lease))
    }
    return interceptors
  }

  private func leased<Operation: GraphQLOperation>(
    _ operation: Operation, _ context: RequestContext
  ) throws -> (lease: GenerationLease, stages: RequestInterceptors) {
    let lease = GenerationLease(host.live) { _ in UUID().uuidString }
    return (lease, try lease.generation.host.chain.interceptors(for: operation, context: context))
  }
}

/// Single lists of the manifest, for a provider that implements the methods for single lists.
///
/// Each list is prepared separately: a canary may run one of them only, and `plugin-retries` applies to each. If a plugin cannot start
/// a request, the list fails the request with its error.
extension ManifestProvider {
  /// Returns the GraphQL interceptors of the serving generation.
  public func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
    list(operation) {
      $1.graphQL + [LeaseKeeper(lease: $0)]
    } failing: {
      [$0]
    }
  }

  /// Returns the cache step of the serving generation.
  public func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor {
    list(operation) {
      LeasedCache(lease: $0, cache: $1.cache)
    } failing: {
      $0
    }
  }

  /// Returns the HTTP interceptors of the serving generation.
  public func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    list(operation) {
      [ResponseLeaseKeeper(lease: $0)] + $1.http
    } failing: {
      [$0]
    }
  }

  /// Returns the parser of the serving generation.
  public func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
    list(operation) {
      LeasedParser(lease: $0, parser: $1.parser)
    } failing: {
      $0
    }
  }

  private func list<Operation: GraphQLOperation, List>(
    _ operation: Operation, _ select: (GenerationLease, RequestInterceptors) -> List, failing: (FailingStage) -> List
  ) -> List {
    do {
      let (lease, stages) = try leased(operation, RequestContext())
      return select(lease, stages)
    } catch {
      return failing(FailingStage(error: error))
    }
  }
}

/// Fails each request with the error of a plugin that cannot start it.
private struct FailingStage: GraphQLInterceptor, HTTPInterceptor, CacheInterceptor, ResponseParsingInterceptor {
  let error: any Error

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> { throw error }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse { throw error }

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? { throw error }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws { throw error }

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> { throw error }
}

/// Holds a lease as long as the cache step of a request.
private struct LeasedCache: CacheInterceptor {
  let lease: GenerationLease
  let cache: any CacheInterceptor

  var stageName: String { cache.stageName }
  var traits: InterceptorHints { cache.traits }

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    try await cache.readCacheData(from: store, request: request)
  }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    try await cache.writeCacheData(to: store, request: request, response: response)
  }
}

/// Holds a lease as long as the parser of a request.
private struct LeasedParser: ResponseParsingInterceptor {
  let lease: GenerationLease
  let parser: any ResponseParsingInterceptor

  var stageName: String { parser.stageName }
  var traits: InterceptorHints { parser.traits }
  var acceptedMediaTypes: AcceptedMediaTypes? { parser.acceptedMediaTypes }

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    try await parser.parse(response: response, for: request, includeCacheRecords: includeCacheRecords)
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
