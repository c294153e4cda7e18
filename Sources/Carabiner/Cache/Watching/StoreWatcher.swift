internal import Synchronization

/// Waits until another writer changes one of the fields a result was made of.
final class StoreWatcher: Sendable {
  /// The watcher on whose behalf this task runs a request: what that writes is no news to it.
  @TaskLocal static var asking: ObjectIdentifier?

  /// What happened since the watcher last looked; apart from it, as the store must not keep the watcher alive.
  private final class Changes: Sendable {
    /// How many changed fields are kept while it is not known which of them count; with more all of them do.
    static let maximumGathered = 10_000

    private struct State {
      /// The fields that count; nil for all.
      var keys: Set<String>?
      var isAffected = false
      var isGathering = false
      var gathered: Set<String> = []
      var gatheredAll = false
    }

    private let state = Mutex(State())

    /// Takes note of a change; tells whether the watcher has to look.
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

    func depend(on keys: Set<String>?) -> Bool {
      state.withLock { state in
        let isAffected =
          state.gatheredAll || (keys.map { !state.gathered.isDisjoint(with: $0) } ?? !state.gathered.isEmpty)
        state = State(keys: keys, isAffected: isAffected)
        return isAffected
      }
    }

    var areAffected: Bool { state.withLock { $0.isAffected } }
  }

  private let changes = Changes()
  private let number: UInt64
  private let subscribers: StoreSubscribers
  private let continuation: AsyncStream<Void>.Continuation
  /// One signal for any number of changes since the last.
  let signals: AsyncStream<Void>

  init(_ store: ApolloStore) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    self.continuation = continuation
    subscribers = store.subscribers
    let identity = ObjectIdentifier(changes)
    number = store.subscribers.add { [changes] _, change in
      if Self.asking != identity, changes.note(change) { continuation.yield() }
    }
  }

  deinit { subscribers.remove(number) }

  /// Whether one of the fields changed since ``depend(on:)`` named them.
  var isAffected: Bool { changes.areAffected }

  /// Keeps all changes from now on until it is known which fields count.
  func gather() { changes.gather() }

  /// From now on only changes of these fields count; nil for all changes. Gathered changes count as if they came now.
  ///
  /// - Returns: Whether one of the gathered changes counts.
  @discardableResult
  func depend(on keys: Set<String>?) -> Bool {
    let isAffected = changes.depend(on: keys)
    if isAffected { continuation.yield() }
    return isAffected
  }

  /// Runs a part of a request whose writes this watcher ignores.
  func asking<Result>(_ work: () async throws -> Result) async throws -> Result {
    try await Self.$asking.withValue(ObjectIdentifier(changes), operation: work)
  }
}
