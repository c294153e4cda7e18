public import Carabiner
public import Dispatch
public import FoundationEssentials
internal import Synchronization

/// Fetches a query and delivers its result. It delivers the result again whenever another writer changes it in the store.
///
/// It works until it is cancelled or released.
public final class GraphQLQueryWatcher<Query: GraphQLQuery>: Cancellable, ApolloStoreSubscriber, @unchecked Sendable {
  // Immutable, but for what is behind a mutex. The client is called by one method at a time of any thread, as by its users.

  /// The query.
  public let query: Query
  private let client: any ApolloClientProtocol
  private let refetchOnFailedUpdates: Bool
  private let context: (any RequestContext)?
  private let callbackQueue: DispatchQueue
  private let handler: Transferred<GraphQLResultHandler<Query.Data>>
  private let queue: CallbackQueue
  /// The identifier of the changes that this watcher's own requests make.
  private let contextIdentifier = UUID()

  private struct State {
    var policy = CachePolicy.default
    var fetching: Transferred<any Cancellable>?
    var keys: Set<CacheKey>?
    var lastData: JSONValue?
    /// The changes of other writers since the last fetch began.
    var changes = RecentChanges()
    var isCancelled = false
    /// How many reads of the store have begun.
    var reads = 0
    /// The results of reads up to this number are outdated, or were delivered.
    var lastRead = 0
  }

  private let state = Mutex(State())

  /// A watcher that has not fetched yet.
  ///
  /// - Parameters:
  ///   - client: Fetches the query.
  ///   - query: The query.
  ///   - refetchOnFailedUpdates: Whether the query is fetched if a change leaves something of it missing in the store.
  ///   - context: A value for the interceptors.
  ///   - callbackQueue: The queue of the handler.
  ///   - resultHandler: Gets the results.
  public init(
    client: any ApolloClientProtocol, query: Query, refetchOnFailedUpdates: Bool = true, context: (any RequestContext)? = nil,
    callbackQueue: DispatchQueue = Callbacks.defaultQueue, resultHandler: @escaping GraphQLResultHandler<Query.Data>
  ) {
    self.client = client
    self.query = query
    self.refetchOnFailedUpdates = refetchOnFailedUpdates
    self.context = context
    self.callbackQueue = callbackQueue
    handler = Transferred(resultHandler)
    queue = CallbackQueue(on: callbackQueue)
    client.store.subscribe(self)
  }

  deinit { state.withLock { $0.fetching }?.value.cancel() }

  /// Fetches the query again. A fetch that is under way is cancelled.
  public func refetch(cachePolicy: CachePolicy = .fetchIgnoringCacheData) { fetch(cachePolicy: cachePolicy) }

  func fetch(cachePolicy: CachePolicy) {
    let previous: Transferred<any Cancellable>?? = state.withLock { state in
      guard !state.isCancelled else { return nil }
      state.policy = cachePolicy
      state.changes = RecentChanges()
      defer { state.fetching = nil }
      return .some(state.fetching)
    }
    guard let previous else { return }
    previous?.value.cancel()
    let fetching = client.fetch(
      query: query, cachePolicy: cachePolicy, contextIdentifier: contextIdentifier, context: context, queue: callbackQueue
    ) { [weak self] result in self?.received(result) }
    let kept = Transferred(fetching)
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.fetching = kept }
      return state.isCancelled
    }
    if isCancelled { fetching.cancel() }
  }

  /// Ends the watcher. Callbacks that have not begun do not begin.
  public func cancel() {
    let fetching = state.withLock { state in
      state.isCancelled = true
      defer { state.fetching = nil }
      return state.fetching
    }
    queue.close()
    fetching?.value.cancel()
    client.store.unsubscribe(self)
  }

  /// A result of an own fetch.
  private func received(_ result: Result<GraphQLResult<Query.Data>, any Error>) {
    guard case .success(let value) = result else { return deliver(result) }
    let (keys, data) = contents(of: value)
    let isAffected = state.withLock { state in
      if let keys { state.keys = keys }
      state.lastData = data
      // A read that has begun may return something older than this result.
      state.lastRead = state.reads
      deliver(result)
      // Another writer may have changed the store after this result was written and before it arrived here.
      defer { state.changes = RecentChanges() }
      return !state.isCancelled && state.changes.touch(state.keys)
    }
    if isAffected { read() }
  }

  private func contents(of value: GraphQLResult<Query.Data>) -> (keys: Set<CacheKey>?, data: JSONValue?) {
    let keys = value.dependentKeys ?? value.body.flatMap { client.store.keys(of: $0, query) }
    return (keys, value.data.flatMap { _ in value.body?.data }.flatMap { try? JSONValue(parsing: [UInt8]($0)) })
  }

  private func deliver(_ result: Result<GraphQLResult<Query.Data>, any Error>) {
    queue.add(CallbackQueue.Callback { [handler] in handler.value(result) })
  }

  // MARK: Changes of the store

  public func store(_ store: ApolloStore, didChangeKeys changedKeys: Set<CacheKey>, contextIdentifier: UUID?) {
    guard contextIdentifier != self.contextIdentifier else { return }
    let isAffected = state.withLock { state in
      state.changes.add(changedKeys)
      return !state.isCancelled && state.keys.map { !$0.isDisjoint(with: changedKeys) } == true
    }
    if isAffected { read() }
  }

  private func read() {
    let number = state.withLock { state in
      state.reads += 1
      return state.reads
    }
    client.store.read(query) { [weak self] result in self?.reread(result, number) }
  }

  /// Handles a result of the store. A result that is older than the delivered one is dropped: the change after it has its own read.
  private func reread(_ result: Result<GraphQLResult<Query.Data>, any Error>, _ number: Int) {
    guard case .success(let value) = result else {
      let mayFetch = state.withLock { state in
        guard number > state.lastRead else { return false }
        state.lastRead = number
        return state.policy != .returnCacheDataDontFetch && !state.isCancelled
      }
      if refetchOnFailedUpdates, mayFetch { fetch(cachePolicy: .fetchIgnoringCacheData) }
      return
    }
    let (keys, data) = contents(of: value)
    state.withLock { state in
      guard number > state.lastRead else { return }
      state.lastRead = number
      if let keys { state.keys = keys }
      // Another writer may have written equal values.
      let isNew = state.lastData == nil || data != state.lastData
      state.lastData = data
      if isNew { deliver(result) }
    }
  }
}

/// The keys that changed in a store since a point in time.
private struct RecentChanges {
  /// The largest number of keys that are kept. With more, every key counts as changed.
  private static let maximumKeys = 1024

  private var keys: Set<CacheKey> = []
  private var areTooMany = false

  mutating func add(_ changed: Set<CacheKey>) {
    guard !areTooMany else { return }
    keys.formUnion(changed)
    guard keys.count > Self.maximumKeys else { return }
    (keys, areTooMany) = ([], true)
  }

  /// Whether one of these keys may have changed.
  func touch(_ others: Set<CacheKey>?) -> Bool { others.map { areTooMany || !keys.isDisjoint(with: $0) } ?? false }
}
