/// The records of an ``ApolloStore``.
///
/// The store admits many readers or one writer at a time, unless the cache ``isShared``.
public protocol NormalizedCache: Sendable {
  /// Whether other processes use the cache too, so that each access is a round trip.
  ///
  /// The store holds no lock during an access to such a cache, and reads it by ``records(for:)``. If a read fails with
  /// ``StoreError/Code/unavailable``, the store treats it as a miss. The default is false.
  var isShared: Bool { get }

  /// The existing records of `keys`.
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record]

  /// The records of `keys`, in the order of the keys; nil for a key without a record.
  func records(forKeys keys: [String]) async throws -> [Record?]

  /// The record of a key with at least some of its fields; nil if there is none.
  ///
  /// The record of a root has a field for each list of arguments, and a query needs few of them. Implement this method if single fields
  /// can be read faster than whole records. The default implementation loads the record.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - fields: The names of the fields that are needed.
  func record(forKey key: String, fields: () -> [String]) async throws -> Record?

  /// The records of some keys, in their order, each with at least some of its fields; nil for a key without a record.
  ///
  /// The store calls it once for each level of a response if the cache ``isShared``. The default implementation loads whole records.
  ///
  /// - Parameter wanted: The keys, and the names of the fields that are needed.
  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?]

  /// Merges records into the cache, either all or none.
  ///
  /// - Returns: The changed fields.
  func merge(records: RecordSet) async throws -> ChangedKeys

  /// Removes records and then merges others, in one transaction if the cache supports it.
  ///
  /// - Returns: The changed fields, including those of the removed records.
  func apply(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys

  /// Removes a record, if it exists.
  func removeRecord(for key: String) async throws

  /// The keys that match a pattern, in which `*` matches any text; all keys for nil.
  func keys(matching pattern: String?) async throws -> [String]

  /// Removes all records.
  func clear() async throws
}

extension NormalizedCache {
  public var isShared: Bool { false }

  public func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    try await records(forKeys: wanted.map(\.key))
  }

  public func apply(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys {
    var changed = ChangedKeys()
    for record in try await self.records(forKeys: keys) {
      guard let record else { continue }
      try await removeRecord(for: record.key)
      changed.insert(record.names, of: record.key)
    }
    if !records.isEmpty { changed.formUnion(try await merge(records: records)) }
    return changed
  }

  public func record(forKey key: String, fields: () -> [String]) async throws -> Record? {
    try await (isShared ? records(for: [(key, fields())]) : records(forKeys: [key])).first ?? nil
  }

  public func records(forKeys keys: [String]) async throws -> [Record?] {
    let found = try await loadRecords(forKeys: Set(keys))
    return keys.map { found[$0] }
  }
}
