public import CarabinerWire

extension ApolloStore {
  /// Runs several reads without a write in between, unless the cache is shared. Other reads may run at the same time.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: The error of the body; ``StoreError`` with code `reentrantTransaction`.
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

  /// Runs reads and writes without any other access in between, or, if the cache is shared, without another transaction of this process. The changes become visible together, or not at all if the body throws.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: The error of the body or of the cache; ``StoreError`` with code `reentrantTransaction`.
  public func withinReadWriteTransaction<Result>(
    _ body: (ReadWriteTransaction) async throws -> Result
  ) async throws -> Result {
    try TransactionScope.checkOutside(self)
    // If the cache is shared, the lock only keeps the transactions of this process apart.
    let (result, changed) = try await lock.with(.write) {
      let (scope, overlay) = (TransactionScope(self), OverlayCache(self.cache))
      defer { scope.close() }
      let result = try await TransactionScope.$current.withValue(TransactionScope.current + [scope]) {
        try await body(ReadWriteTransaction(self, overlay, scope))
      }
      let changes = overlay.changes
      return (result, try await self.cache.apply(removing: Array(changes.removed), merging: changes.merged))
    }
    subscribers.notify(changed, of: self)
    return result
  }

  /// Changes the stored data of an operation.
  ///
  /// - Returns: Whether the store has data of the operation.
  @discardableResult
  public func update(_ operation: some GraphQLOperation, _ body: (inout JSONValue) throws -> Void) async throws -> Bool {
    try await withinReadWriteTransaction { try await $0.update(operation, body) }
  }

  /// Changes the stored data of a typed operation. Optional fields that were never fetched are nil.
  ///
  /// - Returns: Whether the store has the data.
  @discardableResult
  @_disfavoredOverload
  public func update<Operation: GraphQLOperation>(
    _ operation: Operation, _ body: (inout Operation.Data) throws -> Void
  ) async throws -> Bool where Operation.Data: Encodable {
    try await withinReadWriteTransaction { try await $0.update(operation, body) }
  }

  /// Writes the data of an operation, as if it were a response of the server.
  public func write(_ data: JSONValue, for operation: some GraphQLOperation) async throws {
    try await withinReadWriteTransaction { try await $0.write(data, for: operation) }
  }

  /// Removes the record under a key, if it exists.
  public func removeObject(for key: String) async throws {
    try await withinReadWriteTransaction { try await $0.removeObject(for: key) }
  }

  /// Removes the records whose keys match a pattern. `*` matches any text, and matching is case-sensitive.
  ///
  /// - Returns: The number of removed records.
  @discardableResult
  public func removeObjects(matching pattern: String) async throws -> Int {
    try await withinReadWriteTransaction { try await $0.removeObjects(matching: pattern) }
  }
}
