internal import Synchronization

/// A cache in memory that evicts its least recently used records when it is full.
public final class InMemoryNormalizedCache: NormalizedCache {
  /// The maximal number of fields of a record.
  public static let defaultMaximumFields = 1000

  private let state: Mutex<RecordTable>

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - maximumRecords: The maximal number of records; nil for no limit.
  ///   - maximumBytes: The maximal size of all records in bytes, approximately; nil for no limit.
  ///   - maximumFields: The maximal number of fields of a record. A record has one field for each list of arguments, so the record of
  ///     a root would grow without bound. The oldest fields with arguments are dropped.
  public init(
    maximumRecords: Int? = nil, maximumBytes: Int? = nil, maximumFields: Int = InMemoryNormalizedCache.defaultMaximumFields
  ) {
    state = Mutex(
      RecordTable(maximumRecords: maximumRecords, maximumBytes: maximumBytes, maximumFields: max(1, maximumFields)))
  }

  public func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    state.withLock { state in
      keys.reduce(into: [:]) { found, key in found[key] = state.record(key) }
    }
  }

  public func records(forKeys keys: [String]) async throws -> [Record?] {
    state.withLock { state in keys.map { state.record($0) } }
  }

  public func record(forKey key: String, fields: () -> [String]) async throws -> Record? {
    state.withLock { $0.record(key) }
  }

  public func merge(records: RecordSet) async throws -> ChangedKeys {
    let records = records.resolved(by: .default)
    return state.withLock { state in
      var changed = ChangedKeys()
      if let batch = records.batch {
        for entry in batch.entries {
          let fields = state.merge(batch, entry)
          if !fields.isEmpty { changed.insert(fields, of: batch.key(of: entry)) }
        }
      }
      for record in records.list { changed.insert(state.merge(record), of: record.key) }
      state.evict()
      return changed
    }
  }

  public func removeRecord(for key: String) async throws {
    state.withLock { $0.remove(key) }
  }

  public func keys(matching pattern: String?) async throws -> [String] {
    let pattern = pattern.map { KeyPattern($0) }
    return state.withLock { state in state.keys.filter { pattern?.matches($0) ?? true } }
  }

  public func clear() async throws {
    state.withLock { $0.removeAll() }
  }

  /// The number of records.
  public var recordCount: Int { state.withLock { $0.count } }
  /// The size of the records in bytes, approximately.
  public var byteCount: Int { state.withLock { $0.cost } }
}
