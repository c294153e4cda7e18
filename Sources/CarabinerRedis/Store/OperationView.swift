internal import Carabiner
internal import Synchronization

/// The cache as one operation reads it. All rounds have one budget together.
///
/// The first round also asks for the records that the same operation read before, so later levels need a round only for what has changed.
final class OperationView: NormalizedCache {
  private struct State {
    /// The records that were needed so far, and their size.
    var list = ReadMemory.List()
    /// The fields that were asked for in the first round, and the records that have them.
    var asked: [String: Set<String>] = [:]
    var found: [String: Record] = [:]
  }

  private let cache: RedisNormalizedCache
  private let memory: ReadMemory
  private let operation: Int
  private let deadline: ContinuousClock.Instant
  private let state = Mutex(State())

  /// - Parameter operation: A hash of the document and the variables.
  init(_ cache: RedisNormalizedCache, _ memory: ReadMemory, operation: Int, deadline: ContinuousClock.Instant) {
    (self.cache, self.memory, self.operation, self.deadline) = (cache, memory, operation, deadline)
  }

  var isShared: Bool { true }

  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    let isFirst = state.withLock { $0.list.items.isEmpty }
    if isFirst { try await prepare(wanted) }
    let known = state.withLock { state in
      for wanted in wanted { state.list.add(ReadMemory.Item(key: wanted.key, fields: wanted.fields)) }
      return wanted.map { wanted in
        let isKnown = state.asked[wanted.key].map { asked in wanted.fields.allSatisfy { asked.contains($0) } } ?? false
        return (isKnown, state.found[wanted.key])
      }
    }
    var records = known.map(\.1)
    let missing = wanted.indices.filter { !known[$0].0 }
    if !missing.isEmpty {
      let answers = try await cache.records(for: missing.map { wanted[$0] }, until: deadline)
      for (place, answer) in zip(missing, answers) { records[place] = answer }
    }
    memory.set(state.withLock(\.list), of: operation)
    return records
  }

  /// Asks for all records that the operation read before, together with those of the first round.
  private func prepare(_ wanted: [(key: String, fields: [String])]) async throws {
    let items = memory.items(of: operation)
    guard !items.isEmpty else { return }
    var (keys, fields): ([String], [String: FieldNames]) = ([], [:])
    for (key, names) in wanted + items.map({ (key: $0.key, fields: $0.fields) }) {
      if fields[key] == nil {
        keys.append(key)
        fields[key] = FieldNames(list: names)
      } else {
        fields[key]?.add(names)
      }
    }
    let all = keys.map { (key: $0, fields: fields[$0]?.list ?? []) }
    let records = try await cache.records(for: all, until: deadline)
    state.withLock { state in
      for (item, record) in zip(all, records) {
        state.asked[item.key] = Set(item.fields)
        state.found[item.key] = record
      }
    }
  }

  /// The names of the needed fields of a record, each once.
  private struct FieldNames {
    var list: [String]
    private var known: Set<String> = []

    init(list: [String]) { self.list = list }

    mutating func add(_ names: [String]) {
      guard names != list else { return }
      if known.isEmpty { known = Set(list) }
      for name in names where known.insert(name).inserted { list.append(name) }
    }
  }

  func records(forKeys keys: [String]) async throws -> [Record?] { try await cache.records(forKeys: keys) }
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { try await cache.loadRecords(forKeys: keys) }
  func merge(records: RecordSet) async throws -> ChangedKeys { try await cache.merge(records: records) }
  func removeRecord(for key: String) async throws { try await cache.removeRecord(for: key) }
  func keys(matching pattern: String?) async throws -> [String] { try await cache.keys(matching: pattern) }
  func clear() async throws { try await cache.clear() }
}
