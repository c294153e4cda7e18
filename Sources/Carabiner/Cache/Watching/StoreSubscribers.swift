internal import Synchronization

/// The callbacks for changes of a store.
final class StoreSubscribers: Sendable {
  typealias Callback = @Sendable (ApolloStore, StoreChange) -> Void

  private struct State {
    var callbacks: [(number: UInt64, callback: Callback)] = []
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  func add(_ callback: @escaping Callback) -> UInt64 {
    state.withLock { state in
      state.lastNumber += 1
      state.callbacks.append((state.lastNumber, callback))
      return state.lastNumber
    }
  }

  func remove(_ number: UInt64) {
    state.withLock { $0.callbacks.removeAll { $0.number == number } }
  }

  func notify(_ changed: ChangedKeys, of store: ApolloStore) {
    guard !changed.isEmpty else { return }
    let callbacks = state.withLock { $0.callbacks }
    guard !callbacks.isEmpty else { return }
    let keys = changed.keys
    for (_, callback) in callbacks { callback(store, .keys(keys)) }
  }

  func notify(_ change: StoreChange, of store: ApolloStore) {
    for (_, callback) in state.withLock({ $0.callbacks }) { callback(store, change) }
  }
}

/// A change of a store.
public enum StoreChange: Sendable, Hashable {
  /// These fields were written or removed, as `record.field`.
  case keys(Set<String>)
  /// Everything was removed.
  case cleared

  /// Whether a result that consists of these fields may have changed.
  public func affects(_ keys: Set<String>) -> Bool {
    switch self {
    case .keys(let changed): !changed.isDisjoint(with: keys)
    case .cleared: true
    }
  }
}
