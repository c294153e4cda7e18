internal import Carabiner
internal import CarabinerRESP
internal import Synchronization

/// Takes the messages of other nodes: they drop fields of the near cache, and notify watchers.
///
/// While no messages arrive, the near cache is not used.
final class InvalidationReceiver: Sendable {
  private struct State {
    var observers: [@Sendable (StoreChange) -> Void] = []
    /// The changes since the observers were notified; nil if there are none.
    var pending: StoreChange?
    /// Whether a task notifies the observers.
    var isNotifying = false
    /// Whether messages may have been missed.
    var wasLost = false
  }

  /// With more changed fields than this that wait for the observers, everything may have changed.
  static let maximumPendingFields = 50_000

  private let near: NearCache
  private let counters: StoreCounters
  private let node: [UInt8]
  private let state = Mutex(State())

  init(_ near: NearCache, _ counters: StoreCounters, node: [UInt8]) {
    (self.near, self.counters, self.node) = (near, counters, node)
  }

  func add(_ observer: @escaping @Sendable (StoreChange) -> Void) { state.withLock { $0.observers.append(observer) } }

  /// Notifies the watchers of the store, outside of the event loop.
  ///
  /// Only one task at a time does it, so that another node cannot fill memory with tasks. Changes that arrive meanwhile are joined.
  func notify(_ change: StoreChange) {
    let begins = state.withLock { state in
      guard !state.observers.isEmpty else { return false }
      // Not a copy of the pending ones, which would make many changes quadratic work.
      state.pending = state.pending.take()?.joined(with: change, maximumFields: Self.maximumPendingFields) ?? change
      defer { state.isNotifying = true }
      return !state.isNotifying
    }
    if begins { Task { notifyPending() } }
  }

  private func notifyPending() {
    while let (change, observers) = nextPending() {
      for observer in observers { observer(change) }
    }
  }

  private func nextPending() -> (StoreChange, [@Sendable (StoreChange) -> Void])? {
    state.withLock { state in
      defer { state.pending = nil }
      guard let change = state.pending else {
        state.isNotifying = false
        return nil
      }
      return (change, state.observers)
    }
  }

  /// Takes an event of the subscription, on an event loop.
  func take(_ event: RedisEvent) {
    switch event {
    case .opened:
      near.use()
      let wasLost = state.withLock { state in
        defer { state.wasLost = false }
        return state.wasLost
      }
      if wasLost { notify(.cleared) }
    case .lost:
      near.stop()
      state.withLock { $0.wasLost = true }
      notify(.cleared)
    case .push(let reply): take(reply)
    }
  }

  private func take(_ reply: Reply) {
    let parts = Array(reply.values)
    guard parts.count == 3, parts[0].string == "message", let content = parts[2].content else { return }
    let message = Invalidation(content)
    guard message.node != node else { return }
    counters.countReceived()
    if let entries = message.entries {
      for entry in entries { near.drop(entry.fields, of: entry.key) }
    } else {
      near.removeAll()
    }
    notify(message.change)
  }
}

extension StoreChange {
  /// Both changes as one. With more changed fields than the maximum, everything may have changed.
  fileprivate consuming func joined(with other: StoreChange, maximumFields: Int) -> StoreChange {
    guard case .keys(var fields) = consume self, case .keys(let others) = other, fields.count + others.count <= maximumFields
    else { return .cleared }
    fields.formUnion(others)
    return .keys(fields)
  }
}
