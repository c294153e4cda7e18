internal import Synchronization

/// A cache in memory that drops its least recently used records when it is full.
public final class InMemoryNormalizedCache: NormalizedCache {
  private struct Entry {
    var record: Record
    var lastUse: UInt64
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var clock: UInt64 = 0

    mutating func tick() -> UInt64 {
      clock += 1
      return clock
    }
  }

  private let maximumRecords: Int?
  private let state = Mutex(State())

  /// An empty cache.
  ///
  /// - Parameter maximumRecords: How many records it holds at most; nil for no limit.
  public init(maximumRecords: Int? = nil) {
    self.maximumRecords = maximumRecords
  }

  public func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    state.withLock { state in
      var found: [String: Record] = [:]
      for key in keys {
        guard let record = state.entries[key]?.record else { continue }
        let now = state.tick()
        state.entries[key]?.lastUse = now
        found[key] = record
      }
      return found
    }
  }

  public func merge(records: RecordSet) async throws -> Set<String> {
    state.withLock { state in
      var changed: Set<String> = []
      for (key, record) in records.records {
        let now = state.tick()
        guard let index = state.entries.index(forKey: key) else {
          state.entries[key] = Entry(record: record, lastUse: now)
          for field in record.fields.keys { changed.insert("\(key).\(field)") }
          continue
        }
        state.entries.values[index].lastUse = now
        for (field, value) in record.fields where state.entries.values[index].record.fields[field] != value {
          state.entries.values[index].record.fields[field] = value
          changed.insert("\(key).\(field)")
        }
      }
      evict(&state)
      return changed
    }
  }

  public func removeRecord(for key: String) async throws {
    state.withLock { _ = $0.entries.removeValue(forKey: key) }
  }

  public func clear() async throws {
    state.withLock { $0.entries.removeAll() }
  }

  /// Drops a tenth at once, so that a full cache does not sort itself at every write.
  private func evict(_ state: inout State) {
    guard let maximumRecords, state.entries.count > maximumRecords else { return }
    let excess = state.entries.count - maximumRecords + maximumRecords / 10
    for (key, _) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }).prefix(excess) {
      state.entries.removeValue(forKey: key)
    }
  }
}
