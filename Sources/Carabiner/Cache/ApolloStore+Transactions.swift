public import CarabinerWire

extension ApolloStore {
  /// Runs several reads without a write in between, unless the cache is shared. Other reads may run at the same time.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: The error of the body; ``StoreError`` with code `reentrantTransaction`.
  @discardableResult
  public func withinReadTransaction<Result>(
    _ body: (ReadTransaction) async throws -> Result
  ) async throws -> Result {
    try TransactionScope.checkOutside(self)
    return try await locked(.read) {
      let scope = TransactionScope(self)
      defer { scope.close() }
      return try await TransactionScope.$current.withValue(TransactionScope.current + [scope]) {
        try await body(ReadTransaction(store: self, cache: self.cache, scope: scope))
      }
    }
  }

  /// Runs reads and writes without any other access in between. The changes become visible together, or not at all if the body throws.
  ///
  /// If the cache is shared, other processes may use it meanwhile. If one of them changes what the body has read, nothing is written.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: The error of the body or of the cache; ``StoreError`` with code `reentrantTransaction`, or `conflict`: begin again.
  @discardableResult
  public func withinReadWriteTransaction<Result>(
    _ body: (ReadWriteTransaction) async throws -> Result
  ) async throws -> Result {
    try TransactionScope.checkOutside(self)
    // If the cache is shared, the lock only keeps the transactions of this process apart.
    let (result, changed) = try await lock.with(.write) {
      let shared = self.isShared ? try await (self.cache as? any SharedCache)?.beginTransaction() : nil
      let (scope, overlay) = (TransactionScope(self), OverlayCache(shared ?? self.cache))
      defer {
        scope.close()
        shared?.end()
      }
      let result = try await TransactionScope.$current.withValue(TransactionScope.current + [scope]) {
        try await body(ReadWriteTransaction(self, overlay, scope))
      }
      let changes = overlay.changes
      guard let shared else {
        return (result, try await self.cache.apply(removing: Array(changes.removed), merging: changes.merged))
      }
      return (result, try await shared.commit(removing: Array(changes.removed), merging: changes.merged))
    }
    subscribers.notify(changed, of: self)
    return result
  }

  /// How often an update is tried while other processes change what it reads.
  private static let maximumUpdates = 3

  /// Runs a transaction again after a conflict.
  func updating(_ body: (ReadWriteTransaction) async throws -> Bool) async throws -> Bool {
    for _ in 1..<Self.maximumUpdates {
      do {
        return try await withinReadWriteTransaction(body)
      } catch let error as StoreError where error.code == .conflict {
        continue
      }
    }
    return try await withinReadWriteTransaction(body)
  }

  /// Changes the stored data of an operation. If the cache is shared and another process changes the data meanwhile, `body` is called
  /// again with the new data, three times at most.
  ///
  /// - Returns: Whether the store has data of the operation.
  @discardableResult
  public func update(_ operation: some GraphQLOperation, _ body: (inout JSONValue) throws -> Void) async throws -> Bool {
    try await updating { try await $0.update(operation, body) }
  }

  /// Changes the stored data of a typed operation. Optional fields that were never fetched are nil.
  ///
  /// - Returns: Whether the store has the data.
  @discardableResult
  @_disfavoredOverload
  public func update<Operation: GraphQLOperation>(
    _ operation: Operation, _ body: (inout Operation.Data) throws -> Void
  ) async throws -> Bool where Operation.Data: Encodable {
    try await updating { try await $0.update(operation, body) }
  }

  /// Writes the data of an operation, as if it were a response of the server.
  public func write(_ data: JSONValue, for operation: some GraphQLOperation) async throws {
    try await withinReadWriteTransaction { try await $0.write(data, for: operation) }
  }

  /// Removes the record under a key, if it exists.
  public func removeObject(for key: String) async throws {
    if try await removingOutside({ _ in [key] }) != nil { return }
    try await withinReadWriteTransaction { try await $0.removeObject(for: key) }
  }

  /// Removes the records whose keys match a pattern. `*` matches any text, and matching is case-sensitive.
  ///
  /// - Returns: The number of removed records.
  @discardableResult
  public func removeObjects(matching pattern: String) async throws -> Int {
    if let count = try await removingOutside({ try await $0.keys(matching: pattern) }) { return count }
    return try await withinReadWriteTransaction { try await $0.removeObjects(matching: pattern) }
  }

  /// Removes records outside of a transaction, if the cache is shared and has none.
  ///
  /// - Parameter find: The keys of the records.
  /// - Returns: The number of keys; nil if the cache has transactions, and nothing was removed.
  func removingOutside(_ find: (any SharedCache) async throws -> [String]) async throws -> Int? {
    guard let cache = cache as? any SharedCache, !cache.hasTransactions else { return nil }
    try TransactionScope.checkOutside(self)
    let keys = try await find(cache)
    guard !keys.isEmpty else { return 0 }
    let changed = try await cache.apply(removing: keys, merging: RecordSet())
    subscribers.notify(changed, of: self)
    return keys.count
  }
}
