internal import Synchronization

/// Waits until another writer changes a field of a result.
final class StoreWatcher: Sendable {
  /// The changes since the watcher last read the store. A separate object, because the store must not retain the watcher.
  private final class Changes: Sendable {
    /// The maximum number of changed fields that are kept while the relevant fields are unknown. Above it, every change counts as
    /// relevant.
    static let maximumGathered = 10_000

    private struct State {
      /// The relevant fields; nil for all.
      var keys: Set<String>?
      var isAffected = false
      var isGathering = false
      var gathered: Set<String> = []
      var gatheredAll = false
    }

    private let state = Mutex(State())

    /// Records a change. Returns whether the watcher must read the store.
    func note(_ change: StoreChange) -> Bool {
      state.withLock { state in
        guard state.isGathering else {
          let counts = state.keys.map { change.affects($0) } ?? true
          state.isAffected = state.isAffected || counts
          return counts
        }
        switch change {
        case .keys(let keys) where state.gathered.count + keys.count <= Self.maximumGathered: state.gathered.formUnion(keys)
        case .keys, .cleared: state.gatheredAll = true
        }
        return false
      }
    }

    func gather() { state.withLock { $0.isGathering = true } }

    func depend(on keys: Set<String>?, keepingEarlier: Bool) -> Bool {
      state.withLock { state in
        let isAffected =
          keepingEarlier && state.isAffected || state.gatheredAll
          || (keys.map { !state.gathered.isDisjoint(with: $0) } ?? !state.gathered.isEmpty)
        state = State(keys: keys, isAffected: isAffected)
        return isAffected
      }
    }

    var areAffected: Bool { state.withLock { $0.isAffected } }
  }

  private let changes = Changes()
  /// The policy of a fetch that was requested and has not begun; nil for none.
  private let requested = Mutex<CachePolicy?>(nil)
  /// The origin of the writes of this watcher's own requests, which it ignores.
  private let origin = PublishOrigin()
  private let number: UInt64
  private let subscribers: StoreSubscribers
  private let continuation: AsyncStream<Void>.Continuation
  /// A signal for one or more changes since the last one.
  let signals: AsyncStream<Void>

  init(_ store: ApolloStore) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    self.continuation = continuation
    subscribers = store.subscribers
    number = store.subscribers.add { [changes, origin] _, change in
      if PublishOrigin.current != origin, changes.note(change) { continuation.yield() }
    }
  }

  deinit { subscribers.remove(number) }

  /// Whether one of the fields changed since the last ``depend(on:)``.
  var isAffected: Bool { changes.areAffected }

  /// Keeps all changes until ``depend(on:)`` sets the relevant fields.
  func gather() { changes.gather() }

  /// Sets the relevant fields; nil for all. The kept changes are checked now.
  ///
  /// - Parameter keepingEarlier: Whether relevant changes from before ``gather()`` still count, because the store was not read since.
  /// - Returns: Whether a relevant change is to be read.
  @discardableResult
  func depend(on keys: Set<String>?, keepingEarlier: Bool = false) -> Bool {
    let isAffected = changes.depend(on: keys, keepingEarlier: keepingEarlier)
    if isAffected { continuation.yield() }
    return isAffected
  }

  /// Signals that the operation is to be fetched again.
  func requestFetch(_ policy: CachePolicy) {
    requested.withLock { $0 = policy }
    continuation.yield()
  }

  /// The policy of a requested fetch, once.
  func takeRequest() -> CachePolicy? {
    requested.withLock { requested in
      defer { requested = nil }
      return requested
    }
  }

  /// Runs work whose writes this watcher ignores.
  func asking<Result>(_ work: () async throws -> Result) async throws -> Result {
    try await PublishOrigin.$current.withValue(origin, operation: work)
  }
}
