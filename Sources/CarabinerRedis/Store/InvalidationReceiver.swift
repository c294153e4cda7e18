internal import Carabiner
internal import CarabinerRESP
internal import Synchronization

/// Takes the messages of other nodes: they drop fields of the near cache, and notify watchers.
///
/// While no messages arrive, the near cache is not used.
final class InvalidationReceiver: Sendable {
  private struct State {
    var observers: [@Sendable (StoreChange) -> Void] = []
    /// Whether messages may have been missed.
    var wasLost = false
  }

  private let near: NearCache
  private let counters: StoreCounters
  private let node: [UInt8]
  private let state = Mutex(State())

  init(_ near: NearCache, _ counters: StoreCounters, node: [UInt8]) {
    (self.near, self.counters, self.node) = (near, counters, node)
  }

  func add(_ observer: @escaping @Sendable (StoreChange) -> Void) { state.withLock { $0.observers.append(observer) } }

  /// Notifies the watchers of the store. They run outside of the event loop.
  func notify(_ change: StoreChange) {
    let observers = state.withLock(\.observers)
    guard !observers.isEmpty else { return }
    Task { for observer in observers { observer(change) } }
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
