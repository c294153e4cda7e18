extension ApolloStore {
  /// Calls `callback` after each change. It is called outside the lock of the store, so it may use the store.
  ///
  /// The call is in the task of the writer, where ``PublishOrigin/current`` identifies it.
  ///
  /// - Returns: The subscription, which ends when it is released.
  public func subscribe(_ callback: @escaping @Sendable (ApolloStore, StoreChange) -> Void) -> StoreSubscription {
    StoreSubscription(subscribers, subscribers.add(callback))
  }

  /// The fields of the store that the data of a response consists of, as `record.field`; nil if it has no data.
  ///
  /// A change of one of them changes the result: see ``StoreChange/affects(_:)``. The response may be one of the server or of the cache. It
  /// is normalised at each call.
  ///
  /// - Parameters:
  ///   - response: A result of the operation.
  ///   - operation: The operation.
  public func dependentKeys<Operation: GraphQLOperation>(
    of response: GraphQLResponse<Operation>, to operation: Operation
  ) -> Set<String>? {
    Self.records(of: response.body, operation: operation)?.fieldKeys(policy: policy)
  }

  /// The stored results of an operation: the current one if the store has it, and then each one that a change makes different.
  ///
  /// While a field outside deferred fragments is missing, there is no result. `ApolloClient.watch` sends the operation to the server
  /// in this case.
  public func watch<Operation: GraphQLOperation>(_ operation: Operation) -> WatchedResults<Operation> {
    WatchedResults(operation: operation, store: self, refetches: false, fetch: nil)
  }

  /// The stored result of an operation without its missing fields, and the fields that it depends on; nil if the store has no field of it.
  ///
  /// If fields are missing only in deferred fragments, the result is complete and lists the fragments.
  func reading<Operation: GraphQLOperation>(_ operation: Operation) async throws -> Reading<Operation>? {
    try TransactionScope.checkOutside(self)
    if isShared { return try await orMiss { try await self.reading(operation, from: self.view(for: operation)) } }
    return try await lock.with(.read) { try await self.reading(operation, from: self.cache) }
  }

  func reading<Operation: GraphQLOperation>(
    _ operation: Operation, from cache: any NormalizedCache
  ) async throws -> Reading<Operation>? {
    let partial = try await read(operation, from: cache, wantsDependentKeys: true, isPartial: true)
    guard partial?.isComplete == false else { return partial }
    return try await read(operation, from: cache, wantsDependentKeys: true) ?? partial
  }
}

/// Keeps a callback subscribed until it is released or cancelled.
public final class StoreSubscription: Sendable {
  private let subscribers: StoreSubscribers
  private let number: UInt64

  init(_ subscribers: StoreSubscribers, _ number: UInt64) {
    self.subscribers = subscribers
    self.number = number
  }

  deinit { cancel() }

  /// Ends the subscription. A call that has started may still finish.
  public func cancel() { subscribers.remove(number) }
}
