/// Where an ``ApolloStore`` keeps its records.
///
/// The store lets in many readers or one writer at a time.
public protocol NormalizedCache: Sendable {
  /// The records among `keys` that are there.
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record]

  /// The records of `keys`, each in the place of its key; nil where there is none.
  func records(forKeys keys: [String]) async throws -> [Record?]

  /// The record of a key with at least some of its fields; nil if there is none.
  ///
  /// A root has a value for each list of arguments that was asked for, and a query needs few of them. A cache that finds single
  /// fields faster than whole records implements this; the default loads the record.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - fields: The names of the fields that are needed.
  func record(forKey key: String, fields: () -> [String]) async throws -> Record?

  /// Merges records into the cache, all or none of them.
  ///
  /// - Returns: The changed fields.
  func merge(records: RecordSet) async throws -> ChangedKeys

  /// Removes records and then merges others, all or nothing if the cache can.
  ///
  /// - Returns: The changed fields, those of the removed records among them.
  func apply(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys

  /// Removes a record; nothing happens if there is none.
  func removeRecord(for key: String) async throws

  /// The keys of the records that fit a pattern in which `*` stands for any text; all of them for nil.
  func keys(matching pattern: String?) async throws -> [String]

  /// Removes all records.
  func clear() async throws
}

extension NormalizedCache {
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
    try await records(forKeys: [key]).first ?? nil
  }

  public func records(forKeys keys: [String]) async throws -> [Record?] {
    let found = try await loadRecords(forKeys: Set(keys))
    return keys.map { found[$0] }
  }
}
