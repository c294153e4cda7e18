/// Calls the next HTTP step and returns the response.
public typealias NextHTTPInterceptorFunction = @Sendable (URLRequest) async throws -> HTTPResponse

/// A step that sees HTTP requests on the way down and heads and body chunks on the way up.
public protocol HTTPInterceptor: ChainStage {
  /// Intercepts a request and its response.
  ///
  /// Call `next` with the request, changed or not. Its response has the head; use `mapChunks` to see the body. To build and send the
  /// HTTP request again, throw ``HTTPRetry``.
  ///
  /// - Throws: Any error. GraphQL interceptors see it in `mapErrors`.
  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse

  /// Whether a response with this head passes unchanged. Called only for a step with the trait ``InterceptorHints/seesOnlyHeads``.
  func passes(_ head: HTTPURLResponse) -> Bool
}

extension HTTPInterceptor {
  public func passes(_ head: HTTPURLResponse) -> Bool { false }
}

/// Makes the chain build and send the HTTP request again, without running the GraphQL interceptors.
public struct HTTPRetry: ControlFlowError {
  /// The delay before the retry.
  public var delay: Duration

  /// Creates a retry.
  public init(after delay: Duration = .zero) { self.delay = delay }
}
