extension ApolloStore {
  /// Tells somebody of every change, after the change and outside the store's lock, so that the store may be used.
  ///
  /// - Returns: What ends it when it is released.
  public func subscribe(_ callback: @escaping @Sendable (ApolloStore, StoreChange) -> Void) -> StoreSubscription {
    StoreSubscription(subscribers, subscribers.add(callback))
  }

  /// The stored results of an operation: the present one if there is one, then each other that a change makes of it.
  ///
  /// While something other than a deferred fragment is missing nothing comes; `ApolloClient.watch` asks the server then.
  public func watch<Operation: GraphQLOperation>(_ operation: Operation) -> WatchedResults<Operation> {
    WatchedResults(operation: operation, store: self, refetches: false, fetch: nil)
  }

  /// The stored result of an operation without the fields that are missing, and what it depends on; nil if there is nothing of it.
  ///
  /// If only deferred fragments miss fields, the result is complete and lists them.
  func reading<Operation: GraphQLOperation>(_ operation: Operation) async throws -> Reading<Operation>? {
    try TransactionScope.checkOutside(self)
    return try await lock.with(.read) {
      let partial = try await self.read(operation, from: self.cache, wantsDependentKeys: true, isPartial: true)
      guard partial?.isComplete == false else { return partial }
      return try await self.read(operation, from: self.cache, wantsDependentKeys: true) ?? partial
    }
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

  /// Ends the subscription; a call that is under way may still finish.
  public func cancel() { subscribers.remove(number) }
}
