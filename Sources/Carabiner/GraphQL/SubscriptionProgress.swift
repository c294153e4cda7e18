internal import Synchronization

/// What is known of a subscription's state, and who wants to hear of it.
public final class SubscriptionProgress: Sendable {
  private struct Inner {
    var state = SubscriptionState.pending
    var end: SubscriptionEnd?
    var lastListener = 0
    var listeners: [Int: AsyncStream<SubscriptionState>.Continuation] = [:]
  }

  /// How many states are kept for a listener that does not keep up; the newest are.
  static let keptStates = 16

  private let inner = Mutex(Inner())

  init() {}

  /// Where the subscription is now.
  public var state: SubscriptionState { inner.withLock { $0.state } }

  /// Why the subscription finished; nil until it has.
  public var end: SubscriptionEnd? { inner.withLock { $0.end } }

  /// Says that the subscription is over, and why; the first reason stays.
  func finish(_ end: SubscriptionEnd) {
    inner.withLock { inner in if inner.end == nil, inner.state != .finished { inner.end = end } }
    advance(to: .finished)
  }

  /// The state now and every later one; ends when the subscription has.
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

  /// Says where the subscription is; once it is finished, nothing changes that.
  public func advance(to state: SubscriptionState) {
    let over: [AsyncStream<SubscriptionState>.Continuation] = inner.withLock { inner in
      guard inner.state != state, inner.state != .finished else { return [] }
      inner.state = state
      for listener in inner.listeners.values { listener.yield(state) }
      guard state == .finished else { return [] }
      defer { inner.listeners = [:] }
      return Array(inner.listeners.values)
    }
    // What it calls when it ends takes the lock.
    for listener in over { listener.finish() }
  }
}
