package import CarabinerWire

/// A cache that other processes use too.
package protocol SharedCache: NormalizedCache {
  /// The cache for all reads of one operation.
  ///
  /// They have one budget of time together, and the cache may prepare what the same operation read before.
  func view(document: String, variables: JSONObject) -> any NormalizedCache

  /// Whether the cache has transactions.
  var hasTransactions: Bool { get }

  /// Begins a transaction. Its writes are applied together, and only if no other process changed what it read.
  ///
  /// - Throws: ``StoreError`` with code `unavailable`, `CancellationError`.
  func beginTransaction() async throws -> any SharedTransaction

  /// Adds a function that receives the changes of other processes.
  func observeChanges(_ observer: @escaping @Sendable (StoreChange) -> Void)

  /// Called when a field of a record should be a reference and is not.
  func foundMalformedRecord()
}

extension SharedCache {
  package var hasTransactions: Bool { true }
}

/// A transaction of a shared cache. It remembers which records it has read: if another process changes one of them, the commit
/// fails.
package protocol SharedTransaction: NormalizedCache {
  /// Applies the changes, which ends the transaction.
  ///
  /// - Returns: The changed fields.
  /// - Throws: ``StoreError`` with code `conflict` if another process changed what was read: nothing was written. With code
  ///   `unavailable`: nothing was written, unless only the answer is missing.
  func commit(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys

  /// Ends the transaction, if it was not committed.
  func end()
}
