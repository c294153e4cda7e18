internal import FoundationEssentials

/// Stops a request that is retried too often, and waits before each retry if told to.
///
/// It limits and delays the retries that other stages ask for: plugins, and the interceptor of persisted queries. By itself it retries
/// nothing, whatever fails.
///
/// What it counts is kept with the request, so one instance may serve many.
public final class MaxRetryInterceptor: GraphQLInterceptor {
  public var stageName: String { "max-retry" }

  /// How often and how fast a request is retried.
  public struct Configuration: Sendable, Hashable {
    /// How many retries are allowed after the first attempt.
    public var maxRetries: Int
    /// Seconds before the first retry.
    public var baseDelay: Double
    /// What each further delay is multiplied by.
    public var multiplier: Double
    /// The longest delay, in seconds; also what a server's `Retry-After` is cut to.
    public var maxDelay: Double
    /// Whether retries wait at all.
    public var enableExponentialBackoff: Bool
    /// Whether a delay is shortened at random, to 50 to 100 %.
    public var enableJitter: Bool

    /// A configuration, each value with its default.
    public init(
      maxRetries: Int = 3, baseDelay: Double = 0.3, multiplier: Double = 2, maxDelay: Double = 20,
      enableExponentialBackoff: Bool = false, enableJitter: Bool = true
    ) {
      self.maxRetries = maxRetries
      self.baseDelay = baseDelay
      self.multiplier = multiplier
      self.maxDelay = maxDelay
      self.enableExponentialBackoff = enableExponentialBackoff
      self.enableJitter = enableJitter
    }

    /// Seconds before retry number `retry`, which starts at 1, without jitter.
    public func delay(beforeRetry retry: Int) -> Double {
      guard enableExponentialBackoff, retry > 0 else { return 0 }
      var delay = baseDelay
      for _ in 1..<retry where delay < maxDelay { delay *= multiplier }
      return min(delay, maxDelay)
    }
  }

  private let configuration: Configuration

  /// An interceptor with this configuration.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// An interceptor that allows this many retries.
  public convenience init(maxRetriesAllowed: Int) {
    self.init(configuration: Configuration(maxRetries: maxRetriesAllowed))
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let retry = isIdle(for: request) ? 0 : request.context.countRetry(seenBy: ObjectIdentifier(self))
    guard retry <= configuration.maxRetries else {
      throw MaxRetriesError(count: configuration.maxRetries, operationName: request.operation.operationName)
    }
    if retry > 0 {
      let delay = max(jittered(configuration.delay(beforeRetry: retry)), retryAfter(request.context.httpResponse))
      if delay > 0 { try await Task.sleep(for: .seconds(delay)) }
    }
    return await next(request)
  }

  public var traits: StageTraits { .bindsNoTaskLocals }

  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { request.context.attempt == 0 }

  private func jittered(_ delay: Double) -> Double {
    configuration.enableJitter ? delay * Double.random(in: 0.5...1) : delay
  }

  /// What the server asked for; only statuses that mean "later" count.
  private func retryAfter(_ response: HTTPURLResponse?) -> Double {
    guard let response, response.statusCode == 429 || response.statusCode == 503,
      let seconds = response.headers["Retry-After"].flatMap({ Double($0) }), seconds.isFinite, seconds > 0
    else { return 0 }
    return min(seconds, configuration.maxDelay)
  }
}

/// A request was retried as often as allowed and still asked for more.
public struct MaxRetriesError: Error, Sendable, Hashable, CustomStringConvertible {
  /// How many retries were allowed.
  public let count: Int
  /// Which operation it was; nil for an anonymous one.
  public let operationName: String?

  /// An error for this operation after this many retries.
  public init(count: Int, operationName: String?) {
    self.count = count
    self.operationName = operationName
  }

  public var description: String {
    "\(operationName ?? "an anonymous operation") was retried \(count) times and asked for another retry; look at what the "
      + "retrying interceptor cannot mend, or allow more retries in max-retry"
  }
}
