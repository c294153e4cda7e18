internal import Synchronization

/// Values that the stages of one request share, on the way down and up. Retries keep them.
public final class RequestContext: Sendable {
  private struct State {
    var httpResponse: HTTPURLResponse?
    var attempt = 0
    var hasCachedResult = false
    var values: [ObjectIdentifier: any Sendable] = [:]
    var retries: [ObjectIdentifier: Int] = [:]
  }

  /// The number of this request in logs, unique in the process.
  public let id: UInt64
  /// The tracer that receives an event for each step; nil if the request is not traced.
  public let tracer: (any ChainTracer)?
  /// Whether there is a tracer. Reading it does not copy ``tracer``.
  package let isTraced: Bool
  /// The state of a subscription; nil for other operations, and if the caller does not need it.
  public let subscription: SubscriptionProgress?
  /// The path of a gateway at which the operation arrived; nil if there is none, or no rule depends on it.
  package let route: String?
  /// Whether the caller takes a body, or results of a subscription, that are passed on.
  package let takesPassedBody: Bool
  private let state = Mutex(State())

  private static let lastID = Atomic<UInt64>(0)

  /// Creates the context of a new request.
  public convenience init(tracer: (any ChainTracer)? = nil, subscription: SubscriptionProgress? = nil) {
    self.init(tracer: tracer, subscription: subscription, route: nil)
  }

  /// Creates the context of a new request that arrived at a path of a gateway.
  package init(
    tracer: (any ChainTracer)?, subscription: SubscriptionProgress?, route: String?, takesPassedBody: Bool = false
  ) {
    self.route = route
    self.takesPassedBody = takesPassedBody
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.tracer = tracer
    isTraced = tracer != nil
    self.subscription = subscription
  }

  /// The head of the last HTTP response of this request.
  public var httpResponse: HTTPURLResponse? {
    get { state.withLock { $0.httpResponse } }
    set { state.withLock { $0.httpResponse = newValue } }
  }

  /// Whether the caller has received a result from the cache.
  var hasCachedResult: Bool {
    get { state.withLock { $0.hasCachedResult } }
    set { state.withLock { $0.hasCachedResult = newValue } }
  }

  /// 0 for the first attempt, 1 for the first retry. Retries of the HTTP request count too.
  public var attempt: Int { state.withLock { $0.attempt } }

  func beginAttempt() -> Int {
    state.withLock {
      $0.attempt += 1
      return $0.attempt
    }
  }

  /// Counts a retry that an interceptor sees; returns 1 for the first.
  func countRetry(seenBy interceptor: ObjectIdentifier) -> Int {
    state.withLock {
      $0.retries[interceptor, default: 0] += 1
      return $0.retries[interceptor, default: 0]
    }
  }

  /// A value of a stage. Its key is a type.
  public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
    get { state.withLock { $0.values[ObjectIdentifier(key)] as? Key.Value } }
    set { state.withLock { $0.values[ObjectIdentifier(key)] = newValue } }
  }
}

/// The key of a value in a ``RequestContext``.
public protocol RequestContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
}
