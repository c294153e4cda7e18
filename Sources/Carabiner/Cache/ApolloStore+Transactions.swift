public import CarabinerWire

extension ApolloStore {
  /// Reads several things between which nobody writes; others may read at the same time.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: What the body throws; ``StoreError`` with code `reentrantTransaction`.
  public func withinReadTransaction<Result>(
    _ body: (ReadTransaction) async throws -> Result
  ) async throws -> Result {
    try TransactionScope.checkOutside(self)
    return try await lock.with(.read) {
      let scope = TransactionScope(self)
      defer { scope.close() }
      return try await TransactionScope.$current.withValue(TransactionScope.current + [scope]) {
        try await body(ReadTransaction(store: self, cache: self.cache, scope: scope))
      }
    }
  }

  /// Reads and changes while nobody else does either; the changes become visible together, or not at all if the body throws.
  ///
  /// - Parameter body: Must use the transaction and not the store itself.
  /// - Throws: What the body throws, what the cache throws; ``StoreError`` with code `reentrantTransaction`.
  public func withinReadWriteTransaction<Result>(
    _ body: (ReadWriteTransaction) async throws -> Result
  ) async throws -> Result {
    try TransactionScope.checkOutside(self)
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

  /// Changes the stored data of an operation; gives whether there was any.
  @discardableResult
  public func update(_ operation: some GraphQLOperation, _ body: (inout JSONValue) throws -> Void) async throws -> Bool {
    try await withinReadWriteTransaction { try await $0.update(operation, body) }
  }

  /// Changes the stored data of a typed operation; gives whether there was any. Optional fields that were never fetched are nil.
  @discardableResult
  @_disfavoredOverload
  public func update<Operation: GraphQLOperation>(
    _ operation: Operation, _ body: (inout Operation.Data) throws -> Void
  ) async throws -> Bool where Operation.Data: Encodable {
    try await withinReadWriteTransaction { try await $0.update(operation, body) }
  }

  /// Writes the data of an operation, as if a server had sent it.
  public func write(_ data: JSONValue, for operation: some GraphQLOperation) async throws {
    try await withinReadWriteTransaction { try await $0.write(data, for: operation) }
  }

  /// Removes the record under a key; nothing happens if there is none.
  public func removeObject(for key: String) async throws {
    try await withinReadWriteTransaction { try await $0.removeObject(for: key) }
  }

  /// Removes the records whose keys fit a pattern in which `*` stands for any text; gives how many there were.
  @discardableResult
  public func removeObjects(matching pattern: String) async throws -> Int {
    try await withinReadWriteTransaction { try await $0.removeObjects(matching: pattern) }
  }
}
