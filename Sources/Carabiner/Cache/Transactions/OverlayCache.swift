internal import Synchronization

/// The uncommitted changes of a transaction. They are applied to the cache only if the transaction succeeds.
final class OverlayCache: NormalizedCache {
  private struct State {
    var removed: Set<String> = []
    var merged: [String: Record] = [:]
  }

  private let base: any NormalizedCache
  private let state = Mutex(State())

  init(_ base: any NormalizedCache) { self.base = base }

  /// The records to remove, and the records to merge after that.
  var changes: (removed: Set<String>, merged: RecordSet) {
    state.withLock { ($0.removed, RecordSet($0.merged.values)) }
  }

  var isShared: Bool { base.isShared }

  func records(forKeys keys: [String]) async throws -> [Record?] {
    overlaid(try await base.records(forKeys: keys), keys)
  }

  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    overlaid(try await base.records(for: wanted), wanted.map(\.key))
  }

  /// The records below, with the changes of the transaction.
  private func overlaid(_ below: [Record?], _ keys: [String]) -> [Record?] {
    state.withLock { state in
      keys.indices.map { position in
        let key = keys[position]
        guard !state.removed.contains(key), var record = below[position] else { return state.merged[key] }
        if let newer = state.merged[key] { _ = record.table.merge(newer.table) }
        return record
      }
    }
  }

  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    let list = Array(keys)
    return try await zip(list, records(forKeys: list)).reduce(into: [:]) { $0[$1.0] = $1.1 }
  }

  func merge(records: RecordSet) async throws -> ChangedKeys {
    let list = records.list(policy: .default)
    state.withLock { state in
      for record in list {
        _ = state.merged[record.key, default: Record(key: record.key, table: FieldTable())].table.merge(record.table)
      }
    }
    return ChangedKeys()
  }

  func removeRecord(for key: String) async throws {
    state.withLock { state in
      state.removed.insert(key)
      state.merged[key] = nil
    }
  }

  func keys(matching pattern: String?) async throws -> [String] {
    let below = try await base.keys(matching: pattern)
    let pattern = pattern.map { KeyPattern($0) }
    return state.withLock { state in
      let own = state.merged.keys.filter { pattern?.matches($0) ?? true }
      return Array(Set(below).subtracting(state.removed).union(own))
    }
  }

  func clear() async throws {
    for key in try await base.keys(matching: nil) { try await removeRecord(for: key) }
    state.withLock { $0.merged.removeAll() }
  }
}
