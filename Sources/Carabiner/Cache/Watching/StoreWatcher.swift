internal import Synchronization

/// Waits for changes of the fields a result was made of.
final class StoreWatcher: Sendable {
  /// The fields; apart from the watcher, as the store must not keep that alive.
  private final class Fields: Sendable {
    private let keys = Mutex<Set<String>?>(nil)

    func set(_ new: Set<String>?) { keys.withLock { $0 = new } }

    /// While the fields are not known every change counts.
    func areAffected(by change: StoreChange) -> Bool { keys.withLock { $0.map { change.affects($0) } ?? true } }
  }

  private let fields = Fields()
  private let number: UInt64
  private let subscribers: StoreSubscribers
  /// One signal for any number of changes since the last.
  let signals: AsyncStream<Void>

  init(_ store: ApolloStore) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    subscribers = store.subscribers
    number = store.subscribers.add { [fields] _, change in
      if fields.areAffected(by: change) { continuation.yield() }
    }
  }

  deinit { subscribers.remove(number) }

  /// From now on only changes of these fields count; nil for all changes.
  func depend(on keys: Set<String>?) { fields.set(keys) }
}
