public import Carabiner
public import Dispatch
public import FoundationEssentials
internal import Synchronization

/// Gives an object of a response its key in the store: text or a number; nil for none.
public typealias CacheKeyForObject = @Sendable (_ object: JSONObject) -> JSONValue?

/// The store of a client.
///
/// It has the functions of this generation around the store of the core.
public final class ApolloStore: Sendable {
  private struct Subscriber: @unchecked Sendable {
    // Subscribers of this generation are not Sendable; the store calls each in the task of the writer.
    weak var object: (any ApolloStoreSubscriber)?
  }

  /// The store of the core for one key function.
  private struct Keyed {
    let core: Carabiner.ApolloStore
    var key: CacheKeyForObject?
    var subscription: StoreSubscription?
  }

  private struct State {
    var keyed: Keyed
    var subscribers: [Subscriber] = []
  }

  private let state: Mutex<State>
  private let failures = CacheFailureLog()

  /// A store over `cache`.
  public init(cache: any NormalizedCache = InMemoryNormalizedCache()) {
    let core = Carabiner.ApolloStore(cache: cache)
    state = Mutex(State(keyed: Keyed(core: core)))
    let subscription = subscription(to: core)
    state.withLock { $0.keyed.subscription = subscription }
  }

  /// The store of the core, for its other functions.
  public var core: Carabiner.ApolloStore { state.withLock { $0.keyed.core } }

  /// How many results could not be written.
  package var writeFailures: Int { failures.writeFailures }

  /// Gives objects their keys; nil to use their type and `id`. An object without a key is stored under its path.
  ///
  /// Set it before the first request: objects that are stored already keep their keys.
  public var cacheKeyForObject: CacheKeyForObject? {
    get { state.withLock { $0.keyed.key } }
    set {
      let core = Carabiner.ApolloStore(cache: core.cache, policy: newValue.map { CacheKeyPolicy($0) } ?? .default)
      let keyed = Keyed(core: core, key: newValue, subscription: subscription(to: core))
      // Exchanged at once, so that two threads that set it cannot mix store and subscription.
      let old = state.withLock { state in
        defer { state.keyed = keyed }
        return state.keyed
      }
      withExtendedLifetime(old) {}
    }
  }

  private func subscription(to core: Carabiner.ApolloStore) -> StoreSubscription {
    core.subscribe { [weak self] _, change in
      if case .keys(let keys) = change { self?.notify(keys) }
    }
  }

  // MARK: Subscribers

  /// Adds a subscriber. The store does not keep it.
  public func subscribe(_ subscriber: any ApolloStoreSubscriber) {
    let subscriber = Subscriber(object: subscriber)
    state.withLock { state in
      state.subscribers.removeAll { $0.object == nil }
      state.subscribers.append(subscriber)
    }
  }

  /// Removes a subscriber.
  public func unsubscribe(_ subscriber: any ApolloStoreSubscriber) {
    let removed = Subscriber(object: subscriber)
    state.withLock { state in state.subscribers.removeAll { $0.object == nil || $0.object === removed.object } }
  }

  private func notify(_ keys: Set<CacheKey>) {
    let identifier = PublishOrigin.current?.id
    for subscriber in state.withLock({ $0.subscribers }) {
      subscriber.object?.store(self, didChangeKeys: keys, contextIdentifier: identifier)
    }
  }

  // MARK: Reading

  /// The stored result of an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - callbackQueue: The queue of `resultHandler`; nil for ``Callbacks/defaultQueue``.
  ///   - resultHandler: Gets the result; ``CacheMissError`` if something is missing.
  public func load<Operation: GraphQLOperation>(
    _ operation: Operation, callbackQueue: DispatchQueue? = nil, resultHandler: @escaping GraphQLResultHandler<Operation.Data>
  ) {
    call(resultHandler, on: callbackQueue) { try await self.result(of: operation) }
  }

  /// The stored result of an operation, on a thread of the background.
  func read<Operation: GraphQLOperation>(
    _ operation: Operation, _ handler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    let handler = Transferred(handler)
    Task(executorPreference: QueueExecutor.background) {
      let result: Result<GraphQLResult<Operation.Data>, any Error>
      do { result = .success(try await self.result(of: operation)) } catch { result = .failure(error) }
      handler.value(result)
    }
  }

  func result<Operation: GraphQLOperation>(of operation: Operation) async throws -> GraphQLResult<Operation.Data> {
    let core = core
    guard let response = try await core.load(operation) else { throw CacheMissError(operationName: operation.operationName) }
    let records = Carabiner.ApolloStore.records(of: response.body, operation: operation)
    return try GraphQLResult(response, source: .cache, records: records, policy: core.policy)
  }

  /// The fields that a response consists of, as `record.field`; nil if it has no data.
  func keys(of body: ResponseBody, _ operation: some GraphQLOperation) -> Set<CacheKey>? {
    Carabiner.ApolloStore.records(of: body, operation: operation)?.fieldKeys(policy: core.policy)
  }

  // MARK: Writing

  /// Merges records into the store.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - identifier: The identifier that subscribers get.
  ///   - callbackQueue: The queue of `completion`.
  ///   - completion: Called when the records are written.
  public func publish(
    records: RecordSet, identifier: UUID? = nil, callbackQueue: DispatchQueue? = nil,
    completion: ((Result<Void, any Error>) -> Void)? = nil
  ) {
    call(completion, on: callbackQueue) {
      try await PublishOrigin.$current.withValue(identifier.map { PublishOrigin(id: $0) }) {
        try await self.core.publish(records: records)
      }
    }
  }

  /// Merges the records of a result, on a thread of the background. A failure is logged and counted.
  func write(
    _ records: RecordSet, identifier: UUID?, operationName: String?, _ handler: @escaping (Result<Void, any Error>) -> Void
  ) {
    let handler = Transferred(handler)
    Task(executorPreference: QueueExecutor.background) {
      var result = Result<Void, any Error>.success(())
      do {
        try await PublishOrigin.$current.withValue(identifier.map { PublishOrigin(id: $0) }) {
          try await self.core.publish(records: records)
        }
      } catch {
        self.failures.cacheWriteFailed(error, operationName: operationName)
        result = .failure(error)
      }
      handler.value(result)
    }
  }

  /// Removes everything.
  public func clearCache(callbackQueue: DispatchQueue? = nil, completion: ((Result<Void, any Error>) -> Void)? = nil) {
    call(completion, on: callbackQueue) { try await self.core.clearCache() }
  }

  // MARK: Transactions

  /// Runs several reads without a write in between.
  ///
  /// - Parameters:
  ///   - body: Uses the transaction, whose functions are `async`, and not the store.
  ///   - callbackQueue: The queue of `completion`.
  ///   - completion: Gets the value of the body.
  public func withinReadTransaction<Value: Sendable>(
    _ body: @escaping @Sendable (Carabiner.ReadTransaction) async throws -> Value, callbackQueue: DispatchQueue? = nil,
    completion: ((Result<Value, any Error>) -> Void)? = nil
  ) {
    call(completion, on: callbackQueue) { try await self.core.withinReadTransaction(body) }
  }

  /// Runs reads and writes without any other access in between. If the body throws, nothing is written.
  public func withinReadWriteTransaction<Value: Sendable>(
    _ body: @escaping @Sendable (Carabiner.ReadWriteTransaction) async throws -> Value, callbackQueue: DispatchQueue? = nil,
    completion: ((Result<Value, any Error>) -> Void)? = nil
  ) {
    call(completion, on: callbackQueue) { try await self.core.withinReadWriteTransaction(body) }
  }

  /// Runs `body` and calls `completion` with its result on a queue.
  private func call<Value: Sendable>(
    _ completion: ((Result<Value, any Error>) -> Void)?, on queue: DispatchQueue?,
    _ body: @escaping @Sendable () async throws -> Value
  ) {
    let completion = Transferred(completion)
    let queue = QueueExecutor(queue ?? Callbacks.defaultQueue)
    Task(executorPreference: QueueExecutor.background) {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      Task(executorPreference: queue) { completion.value?(result) }
    }
  }
}

extension JSONValue {
  /// The text of a key; nil for a value that is neither text nor a number.
  var cacheKey: String? { string ?? number?.lexeme }
}
