/// Calls the next HTTP step and brings the response.
public typealias NextHTTPInterceptorFunction = @Sendable (URLRequest) async throws -> HTTPResponse

/// A step that sees HTTP requests on the way down and heads and body chunks on the way up.
public protocol HTTPInterceptor: Sendable {
  /// Does work before and after the network.
  ///
  /// Call `next` with the request, changed or not; look at the head it returns and use `mapChunks` to see the body. Throw
  /// ``HTTPRetry`` to have the HTTP request built and sent again.
  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse

  /// What a trace calls this step.
  var stageName: String { get }
  /// What the chain may take for granted about this step.
  var traits: StageTraits { get }

  /// Whether a response with this head goes up as it is; asked only of a step with the trait ``StageTraits/seesOnlyHeads``.
  func passes(_ head: HTTPURLResponse) -> Bool
}

extension HTTPInterceptor {
  public var stageName: String { String(describing: type(of: self)) }
  public var traits: StageTraits { [] }
  public func passes(_ head: HTTPURLResponse) -> Bool { false }
}

/// Asks the chain to build the HTTP request again and send it, without passing the GraphQL interceptors.
public struct HTTPRetry: ChainControl {
  /// How long to wait first.
  public var delay: Duration

  /// A retry after `delay`.
  public init(after delay: Duration = .zero) { self.delay = delay }
}
