import Carabiner
import CarabinerConnect
import CarabinerCurl
import FoundationEssentials

/// A provider of HTTP interceptors.
struct Stages: InterceptorProvider {
  let http: [any HTTPInterceptor]

  init(_ http: [any HTTPInterceptor]) { self.http = http }

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] { http }

  /// A client whose exchanges pass them.
  func client(
    _ host: String, networkProtocol: NetworkProtocol = .connect, unaryGET: ProtocolClientConfig.UnaryGET = .disabled,
    interceptors: [InterceptorFactory] = []
  ) throws -> ProtocolClient {
    ProtocolClient(
      httpClient: URLSessionHTTPClient(transport: try CurlTransport(), stages: self),
      config: ProtocolClientConfig(
        host: host, networkProtocol: networkProtocol, unaryGET: unaryGET, interceptors: interceptors))
  }
}

/// An HTTP interceptor made of a function.
struct HTTPStep: HTTPInterceptor {
  typealias Body = @Sendable (Carabiner.URLRequest, NextHTTPInterceptorFunction) async throws -> Carabiner.HTTPResponse

  let body: Body

  init(_ body: @escaping Body) { self.body = body }

  func intercept(
    request: Carabiner.URLRequest, next: NextHTTPInterceptorFunction
  ) async throws -> Carabiner.HTTPResponse { try await body(request, next) }
}

/// Sends each request twice, as a plugin that retries does.
struct RetryOnce: HTTPInterceptor {
  private let isRetried = Shared(false)

  func intercept(
    request: Carabiner.URLRequest, next: NextHTTPInterceptorFunction
  ) async throws -> Carabiner.HTTPResponse {
    let response = try await next(request)
    guard isRetried.exchange(true) else { throw HTTPRetry() }
    return response
  }
}
