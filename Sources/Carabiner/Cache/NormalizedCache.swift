/// Where an ``ApolloStore`` keeps its records.
public protocol NormalizedCache: Sendable {
  /// The records among `keys` that are there.
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record]

  /// Merges records into the cache.
  ///
  /// - Returns: The changed fields, as `key.field`.
  func merge(records: RecordSet) async throws -> Set<String>

  /// Removes a record; nothing happens if there is none.
  func removeRecord(for key: String) async throws

  /// Removes all records.
  func clear() async throws
}
