package import Carabiner
internal import CarabinerRESP
internal import Synchronization

extension RedisNormalizedCache {
  package var hasTransactions: Bool { !layout.isSpread }

  package func beginTransaction() async throws -> any SharedTransaction {
    guard !layout.isSpread else {
      throw StoreError(.unavailable, "a store that is spread over a cluster has no transactions; remove spread: true")
    }
    let deadline = ContinuousClock.now + settings.removalTime
    _ = try reader()
    guard isAvailable else { throw StoreError(.unavailable, "there is no connection to Redis; the log says why") }
    // The transaction must read what this node wrote before.
    await queue.drained()
    return try await asking {
      RedisTransaction(self, try await transactionClients.take(until: deadline) { isAvailable })
    }
  }
}

/// A transaction over a connection of its own. It watches the records and fields of roots that it reads, and reads nothing from memory.
/// Whole roots and lists of keys are not watched: they have too many keys.
final class RedisTransaction: SharedTransaction {
  private struct State {
    var isOver = false
    /// The keys of Redis that are watched.
    var watched: Set<String> = []
    /// Whether a `WATCH` was sent that nothing has ended.
    var mayWatch = false
    /// The values of fields that were read, by record.
    var read: [String: FieldTable] = [:]
  }

  private static let maximumWatched = 5000

  private let cache: RedisNormalizedCache
  private let client: RedisClient
  private let session: RedisSession
  private let state = Mutex(State())

  init(_ cache: RedisNormalizedCache, _ connection: (client: RedisClient, session: RedisSession)) {
    self.cache = cache
    (client, session) = connection
  }

  deinit { end() }

  var isShared: Bool { true }

  private var deadline: ContinuousClock.Instant { .now + cache.settings.removalTime }

  // MARK: Reading

  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    let reader = try cache.reader()
    let questions = wanted.map { RecordReader.Question(key: $0.key, fields: $0.fields) }
    let read = reader.commands(for: questions)
    guard read.count > 0 else { return wanted.map { _ in nil } }
    let replies = try await watched(questions.flatMap(reader.keys), read)
    return zip(wanted, reader.answers(replies, to: questions)).map { note($0.key, $1.table) }
  }

  func records(forKeys keys: [String]) async throws -> [Record?] {
    let reader = try cache.reader()
    var records: [Record?] = []
    for key in keys {
      guard !StoreLayout.isRoot(key) else {
        records += try await cache.records(forKeys: [key])
        continue
      }
      var read = CommandBatch()
      read.begin("HGETALL", arguments: 1)
      read.add(cache.layout.recordKey(key))
      let replies = try await watched([cache.layout.recordKey(key)], read)
      records.append(note(key, try replies.first.map { try RedisNormalizedCache.table($0, reader) } ?? FieldTable()))
    }
    return records
  }

  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    let list = Array(keys)
    return try await zip(list, records(forKeys: list)).reduce(into: [:]) { $0[$1.0] = $1.1 }
  }

  func keys(matching pattern: String?) async throws -> [String] { try await cache.keys(matching: pattern) }

  /// Sends commands that read keys, after one that watches those that are not watched yet. Returns the answers of the former.
  private func watched(_ keys: [String], _ read: CommandBatch) async throws -> ArraySlice<Reply> {
    let new = try state.withLock { state in
      guard !state.isOver else { throw StoreError(.transactionEnded, "the transaction has ended; begin a new one") }
      let new = Set(keys).subtracting(state.watched)
      // Redis compares each key with all others that the connection watches.
      guard state.watched.count + new.count <= Self.maximumWatched else {
        throw StoreError(
          .unavailable, "a transaction can read \(Self.maximumWatched) records and fields of roots; read fewer in each")
      }
      state.mayWatch = true
      return new
    }
    var commands = CommandBatch()
    if !new.isEmpty {
      commands.begin("WATCH", arguments: new.count)
      for key in new { commands.add(key) }
    }
    commands.append(read)
    let all = commands
    let replies = try await cache.asking { () throws -> [Reply] in
      let replies = try await session.send(all, within: cache.settings.removalTime)
      if let text = replies.lazy.compactMap(\.errorText).first {
        throw RedisError(.serverRefused, "Redis refused a read of a transaction (\(text)); let the user run WATCH, HMGET and GET")
      }
      return replies
    }
    state.withLock { $0.watched.formUnion(new) }
    return replies[(new.isEmpty ? 0 : 1)...]
  }

  /// Keeps what was read. Returns the record; nil if it has no fields.
  private func note(_ key: String, _ table: FieldTable) -> Record? {
    guard table.count > 0 else { return nil }
    state.withLock { _ = $0.read[key, default: FieldTable()].merge(table) }
    return Record(key: key, table: table)
  }

  // MARK: Ending

  func commit(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys {
    let list = records.list(policy: .default)
    guard !keys.isEmpty || !list.isEmpty else { return ChangedKeys() }
    let names = try await cache.inspecting { scan, reader in
      var names: Set<String> = []
      for root in keys where StoreLayout.isRoot(root) {
        names.formUnion(try await scan.keys(beginningWith: reader.layout.rootPrefix(root)))
      }
      return names.sorted()
    }
    let changed = changes(by: list, removing: keys)
    let entries =
      keys.map { Invalidation.Entry(key: $0, fields: []) } + changed.entries.map { .init(key: $0.key, fields: $0.fields) }
    let objects = keys.filter { !StoreLayout.isRoot($0) }
    do {
      try await cache.asking {
        try await cache.writer.commit(list, removing: objects, names, changed: entries, over: session, until: deadline)
      }
    } catch {
      // EXEC ends the watch also if it runs nothing. With other errors it may have run, and other nodes may have been notified.
      if (error as? StoreError)?.code == .conflict { notWatching() } else { forget(keys, list, isCertain: false) }
      throw error
    }
    notWatching()
    forget(keys, list, isCertain: true)
    return changed
  }

  /// Drops what was changed from memory. Watchers read again if it is not known which fields changed: those of removed records, or if
  /// the answer was lost.
  private func forget(_ keys: [String], _ records: [Record], isCertain: Bool) {
    for key in keys + records.map(\.key) { cache.near.drop([], of: key) }
    if !isCertain || !keys.isEmpty { cache.invalidations.notify(.cleared) }
  }

  private func notWatching() { state.withLock { ($0.watched, $0.mayWatch) = ([], false) } }

  /// The fields whose values differ from those that were read, or that were not read.
  private func changes(by records: [Record], removing keys: [String]) -> ChangedKeys {
    let (removed, read) = (Set(keys), state.withLock(\.read))
    return records.reduce(into: ChangedKeys()) { changes, record in
      let known = removed.contains(record.key) ? nil : read[record.key].map { Record(key: record.key, table: $0) }
      let names = record.names.filter { name in
        guard let old = known?[name], let new = record[name] else { return true }
        return !old.elementsEqual(new)
      }
      if !names.isEmpty { changes.insert(names, of: record.key) }
    }
  }

  func end() {
    let (isFirst, mayWatch) = state.withLock { state in
      defer { state.isOver = true }
      return (!state.isOver, state.mayWatch)
    }
    guard isFirst else { return }
    if mayWatch {
      // Before all commands of the next transaction, which must not fail because of what this one has read.
      var commands = CommandBatch()
      commands.begin("UNWATCH", arguments: 0)
      // If it cannot be sent, the connection is not used again.
      guard session.post(commands, within: cache.settings.removalTime) else { return }
    }
    cache.transactionClients.giveBack(client)
  }

  // MARK: Writing through

  func merge(records: RecordSet) async throws -> ChangedKeys { try await commit(removing: [], merging: records) }

  func removeRecord(for key: String) async throws { _ = try await commit(removing: [key], merging: RecordSet()) }

  func clear() async throws { try await cache.clear() }
}
