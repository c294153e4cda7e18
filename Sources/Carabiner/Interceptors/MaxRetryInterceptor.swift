internal import FoundationEssentials

/// Limits the retries of a request, and optionally waits before each retry.
///
/// It limits and delays the retries that other stages request, such as plugins and the interceptor for persisted queries. It does
/// not retry failed requests by itself.
///
/// The count is kept in the context of the request, so one instance may serve many requests.
public final class MaxRetryInterceptor: GraphQLInterceptor {
  public var stageName: String { "max-retry" }

  /// The limits and delays of retries.
  public struct Configuration: Sendable, Hashable {
    /// The maximal number of retries after the first attempt.
    public var maxRetries: Int
    /// The delay before the first retry, in seconds.
    public var baseDelay: Double
    /// The factor between one delay and the next.
    public var multiplier: Double
    /// The longest delay in seconds, also for the `Retry-After` of a server.
    public var maxDelay: Double
    /// Whether retries are delayed.
    public var enableExponentialBackoff: Bool
    /// Whether each delay is shortened at random, to between 50 and 100 %.
    public var enableJitter: Bool

    /// Creates a configuration.
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

    /// The delay in seconds before retry number `retry`, which starts at 1, without jitter.
    public func delay(beforeRetry retry: Int) -> Double {
      guard enableExponentialBackoff, retry > 0 else { return 0 }
      var delay = baseDelay
      for _ in 1..<retry where delay < maxDelay { delay *= multiplier }
      return min(delay, maxDelay)
    }
  }

  private let configuration: Configuration

  /// Creates an interceptor.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Creates an interceptor that allows this many retries.
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
      if delay > 0 { try await Task.sleep(for: .bounded(seconds: delay)) }
    }
    return await next(request)
  }

  public var traits: InterceptorHints { .bindsNoTaskLocals }

  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool {
    request.context.attempt == 0
  }

  private func jittered(_ delay: Double) -> Double {
    configuration.enableJitter ? delay * Double.random(in: 0.5...1) : delay
  }

  /// The delay that the server requests. Only the statuses for overload and unavailability count.
  private func retryAfter(_ response: HTTPURLResponse?) -> Double {
    guard let response, response.statusCode == 429 || response.statusCode == 503,
      let seconds = response.headers["Retry-After"].flatMap({ Double($0) }), seconds.isFinite, seconds > 0
    else { return 0 }
    return min(seconds, configuration.maxDelay)
  }
}

/// A request used all its retries, and another retry was requested.
public struct MaxRetriesError: DescribedError, Sendable, Hashable {
  /// The number of retries that were allowed.
  public let count: Int
  /// The name of the operation; nil for an anonymous one.
  public let operationName: String?

  /// Creates an error.
  public init(count: Int, operationName: String?) {
    self.count = count
    self.operationName = operationName
  }

  public var description: String {
    "\(operationName ?? "an anonymous operation") was retried \(count) times without success; check why the interceptor "
      + "requests retries, or raise the limit of max-retry"
  }
}
