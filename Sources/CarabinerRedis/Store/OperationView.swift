internal import Carabiner

/// The cache as one operation reads it. All rounds have one budget together.
struct OperationView: NormalizedCache {
  let cache: RedisNormalizedCache
  let deadline: ContinuousClock.Instant

  var isShared: Bool { true }

  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    try await cache.records(for: wanted, until: deadline)
  }

  func records(forKeys keys: [String]) async throws -> [Record?] { try await cache.records(forKeys: keys) }
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { try await cache.loadRecords(forKeys: keys) }
  func merge(records: RecordSet) async throws -> ChangedKeys { try await cache.merge(records: records) }
  func removeRecord(for key: String) async throws { try await cache.removeRecord(for: key) }
  func keys(matching pattern: String?) async throws -> [String] { try await cache.keys(matching: pattern) }
  func clear() async throws { try await cache.clear() }
}
