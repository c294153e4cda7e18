internal import Synchronization

/// What the stages of one request share: values that travel up as well as down, retries included.
public final class RequestContext: Sendable {
  private struct State {
    var httpResponse: HTTPURLResponse?
    var attempt = 0
    var hasCachedResult = false
    var values: [ObjectIdentifier: any Sendable] = [:]
    var retries: [ObjectIdentifier: Int] = [:]
  }

  /// A number that names this request in logs, unique in the process.
  public let id: UInt64
  /// Who is told what each stage does; nil if nobody asked.
  public let tracer: (any ChainTracer)?
  /// Who is told the state of a subscription; nil of other operations, and if nobody wants to know.
  public let subscription: SubscriptionProgress?
  private let state = Mutex(State())

  private static let lastID = Atomic<UInt64>(0)

  /// The context of a new request.
  public init(tracer: (any ChainTracer)? = nil, subscription: SubscriptionProgress? = nil) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.tracer = tracer
    self.subscription = subscription
  }

  /// The head of the last HTTP response of this request.
  public var httpResponse: HTTPURLResponse? {
    get { state.withLock { $0.httpResponse } }
    set { state.withLock { $0.httpResponse = newValue } }
  }

  /// Whether the caller has got a result from the cache.
  var hasCachedResult: Bool {
    get { state.withLock { $0.hasCachedResult } }
    set { state.withLock { $0.hasCachedResult = newValue } }
  }

  /// 0 for the first attempt, 1 for the first retry; retries of the HTTP leg count.
  public var attempt: Int { state.withLock { $0.attempt } }

  func beginAttempt() -> Int {
    state.withLock {
      $0.attempt += 1
      return $0.attempt
    }
  }

  /// Counts a retry one interceptor sees; 1 for the first.
  func countRetry(seenBy interceptor: ObjectIdentifier) -> Int {
    state.withLock {
      $0.retries[interceptor, default: 0] += 1
      return $0.retries[interceptor, default: 0]
    }
  }

  /// A value of a stage's own, by the type that names it.
  public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
    get { state.withLock { $0.values[ObjectIdentifier(key)] as? Key.Value } }
    set { state.withLock { $0.values[ObjectIdentifier(key)] = newValue } }
  }
}

/// Names a value in a ``RequestContext``.
public protocol RequestContextKey {
  /// What is kept under this key.
  associatedtype Value: Sendable
}
