internal import Synchronization

/// The state of a subscription, and the listeners for its changes.
public final class SubscriptionProgress: Sendable {
  private struct Inner {
    var state = SubscriptionState.pending
    var end: SubscriptionEnd?
    var lastListener = 0
    var listeners: [Int: AsyncStream<SubscriptionState>.Continuation] = [:]
  }

  /// The number of states that are kept for a slow listener. The oldest are dropped.
  static let keptStates = 16

  private let inner = Mutex(Inner())

  init() {}

  /// The current state of the subscription.
  public var state: SubscriptionState { inner.withLock { $0.state } }

  /// The reason why the subscription finished; nil before that.
  public var end: SubscriptionEnd? { inner.withLock { $0.end } }

  /// Finishes the subscription with a reason. Later calls do not change the reason.
  func finish(_ end: SubscriptionEnd) {
    inner.withLock { inner in if inner.end == nil, inner.state != .finished { inner.end = end } }
    advance(to: .finished)
  }

  /// The current state and all later ones, until the subscription has finished.
  public var states: AsyncStream<SubscriptionState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.keptStates)) { listener in
      let number: Int? = inner.withLock { inner in
        listener.yield(inner.state)
        guard inner.state != .finished else { return nil }
        inner.lastListener += 1
        inner.listeners[inner.lastListener] = listener
        return inner.lastListener
      }
      guard let number else { return listener.finish() }
      listener.onTermination = { [weak self] _ in self?.inner.withLock { $0.listeners[number] = nil } }
    }
  }

  /// Changes the state. A finished subscription stays finished.
  public func advance(to state: SubscriptionState) {
    let over: [AsyncStream<SubscriptionState>.Continuation] = inner.withLock { inner in
      guard inner.state != state, inner.state != .finished else { return [] }
      inner.state = state
      for listener in inner.listeners.values { listener.yield(state) }
      guard state == .finished else { return [] }
      defer { inner.listeners = [:] }
      return Array(inner.listeners.values)
    }
    // Outside the lock, because the termination handler acquires it.
    for listener in over { listener.finish() }
  }
}
