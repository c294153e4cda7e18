public import Carabiner
internal import Synchronization

/// Limits the retries of a request, and optionally waits before each.
///
/// The count belongs to the chain, so one instance may serve many requests.
public class MaxRetryInterceptor: ApolloInterceptor {
  /// How often and how fast requests are retried.
  public typealias Configuration = Carabiner.MaxRetryInterceptor.Configuration

  /// A request used all its retries.
  public enum RetryError: DescribedError, Sendable, Hashable {
    /// The number of retries, and the name of the operation, which is empty for an anonymous one.
    case hitMaxRetryCount(count: Int, operationName: String)

    public var description: String {
      switch self {
      case .hitMaxRetryCount(let count, let name):
        "\(name.isEmpty ? "an anonymous operation" : name) was retried \(count) times without success; check which interceptor "
          + "requests the retries, or raise the limit of MaxRetryInterceptor"
      }
    }
  }

  private let configuration: Configuration
  /// The passes seen with chains that are types of the user.
  private let foreignPasses = Atomic<Int>(0)

  /// An interceptor that allows this many retries.
  public init(maxRetriesAllowed: Int = 3) { configuration = Configuration(maxRetries: maxRetriesAllowed) }

  /// An interceptor with this configuration.
  public init(configuration: Configuration) { self.configuration = configuration }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    let retry = chain.requestMemory?.count(for: self) ?? foreignPasses.add(1, ordering: .relaxed).oldValue
    guard retry <= configuration.maxRetries else {
      let error = RetryError.hitMaxRetryCount(
        count: configuration.maxRetries, operationName: request.operation.operationName ?? "")
      return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    let delay = retry == 0 ? 0 : delay(beforeRetry: retry, chain.requestMemory?.head)
    guard delay > 0 else { return chain.proceedAsync(request: request, response: response, completion: completion) }
    let proceed = Transferred { chain.proceedAsync(request: request, response: response, completion: completion) }
    let timer = Task(executorPreference: QueueExecutor.background) {
      guard (try? await Task.sleep(for: .bounded(seconds: delay))) != nil else { return }
      proceed.value()
    }
    // A chain that is cancelled does not wait for the delay.
    (chain as? ChainPlace)?.place.pass.atEnd { timer.cancel() }
  }

  /// Seconds before a retry: with jitter, and not less than a server that is overloaded requests.
  private func delay(beforeRetry retry: Int, _ head: HTTPURLResponse?) -> Double {
    let delay = configuration.delay(beforeRetry: retry) * (configuration.enableJitter ? Double.random(in: 0.5...1) : 1)
    guard let head, head.statusCode == 429 || head.statusCode == 503,
      let seconds = head.headers["Retry-After"].flatMap({ Double($0) }), seconds.isFinite
    else { return delay }
    return max(delay, min(seconds, configuration.maxDelay))
  }
}
