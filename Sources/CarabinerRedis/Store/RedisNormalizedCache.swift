package import Carabiner
package import CarabinerRESP
package import CarabinerWire
package import Logging

/// A cache in Redis or Valkey, whose records all nodes with the same servers and prefix share.
///
/// A read takes one round trip, and waits no longer than its budget. Writes are queued in order, and their callers do not wait.
/// While Redis is away, reads are misses and writes are dropped.
package final class RedisNormalizedCache: SharedCache {
  let settings: RedisStoreSettings
  let client: RedisClient
  let layout: StoreLayout
  private let clock: ServerClock
  let counters = StoreCounters()
  let writer: RecordWriter
  let queue: WriteQueue
  private let keeper: StoreKeeper
  let near: NearCache
  private let memory = ReadMemory()
  let invalidations: InvalidationReceiver
  let subscription: RedisClient
  let transactionClients: TransactionClients

  /// Creates a cache and begins to connect.
  ///
  /// - Throws: ``RedisError`` with code `invalidSettings`.
  package init(_ settings: RedisStoreSettings, logger: Logger = Logger(label: "carabiner.store.redis")) throws(RedisError) {
    guard StorePrefix.isValid(settings.prefix) else {
      throw RedisError(
        .invalidSettings, "the prefix is not valid; use 1 to \(StorePrefix.maximumBytes) letters, digits and hyphens")
    }
    guard !settings.isSpread || settings.connection.isCluster else {
      throw RedisError(.invalidSettings, "only a cluster can spread the store; set cluster: true as well, or remove spread: true")
    }
    self.settings = settings
    let layout = StoreLayout(prefix: settings.prefix, isSpread: settings.isSpread)
    let clock = ServerClock(settings.clock)
    let keeper = StoreKeeper(layout, clock, isReadOnly: settings.isReadOnly, logger)
    let addresses = RedisAddresses(settings.connection.urls)
    let client = try RedisClient(settings.connection, addresses, home: layout.slot, isSpread: layout.isSpread, logger: logger) {
      event in
      if case .opened = event { keeper.connected() }
    }
    keeper.begin(client)
    let near = NearCache(maximumRecords: settings.nearRecords, maximumAge: settings.nearMaximumAge)
    let node = (0..<Invalidation.nodeBytes).map { _ in UInt8.random(in: .min ... .max) }
    let lives = StoreLives(settings.policy, timeToLive: settings.timeToLive)
    let writer = RecordWriter(
      client, layout, lives, clock, counters, near, node: node, pauseTime: settings.pauseTime, logger)
    let invalidations = InvalidationReceiver(near, counters, node: node)
    transactionClients = TransactionClients(settings.connection, addresses, home: layout.slot, logger)
    subscription = try RedisClient(
      settings.connection, addresses, channels: [layout.channel], home: layout.slot, isSpread: false, logger: logger
    ) { invalidations.take($0) }
    (self.near, self.invalidations) = (near, invalidations)
    (self.layout, self.clock, self.keeper, self.client, self.writer) = (layout, clock, keeper, client, writer)
    queue = WriteQueue(maximumBytes: settings.writeQueueBytes) { await writer.send($0) }
  }

  deinit { keeper.end() }

  /// Whether reads and writes reach Redis now.
  package var isAvailable: Bool { keeper.isReady && client.isAvailable }

  /// Whether records in memory are used: messages of other nodes arrive.
  package var usesNearRecords: Bool { near.isUsed }

  /// The number of commands that have no answer yet.
  package var waitingCommands: Int { client.waitingCommands }

  /// The time of Redis minus the local time in milliseconds; nil before the first answer.
  package var clockOffset: Int64? { clock.offset }

  /// Waits until all writes were sent or dropped.
  package func drained() async { await queue.drained() }

  package var isShared: Bool { true }

  package func observeChanges(_ observer: @escaping @Sendable (StoreChange) -> Void) { invalidations.add(observer) }

  // MARK: Reading

  package func view(document: String, variables: JSONObject) -> any NormalizedCache {
    var hasher = Hasher()
    hasher.combine(document)
    hasher.combine(variables)
    return OperationView(self, memory, operation: hasher.finalize(), deadline: .now + settings.readBudget)
  }

  package func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    try await records(for: wanted, until: .now + settings.readBudget)
  }

  /// The records of some keys with the given fields. Those that do not exist are left out.
  ///
  /// - Throws: ``StoreError`` with code `unavailable`, `CancellationError`.
  func records(
    for wanted: [(key: String, fields: [String])], until deadline: ContinuousClock.Instant
  ) async throws -> [Record?] {
    let ticket = near.ticket
    let known = near.answers(to: wanted)
    let asked = wanted.indices.filter { !known[$0].missing.isEmpty }
    counters.countNear(hits: wanted.count - asked.count, misses: asked.count)
    var records = known.map(\.record)
    guard !asked.isEmpty else { return records }
    let reader = try reader()
    let questions = asked.map { RecordReader.Question(key: wanted[$0].key, fields: known[$0].missing) }
    let begin = ContinuousClock.now
    let answers = try await asking { try await reader.answers(to: questions, within: deadline - begin) }
    counters.readTimes.add(.now - begin)
    for (place, answer) in zip(asked, answers) {
      let key = wanted[place].key
      near.put(answer.table, absent: answer.absent, of: key, ticket: ticket)
      records[place] = Self.joined(known[place].record, answer.table, key)
    }
    return records
  }

  /// The known fields of a record with those that Redis has.
  private static func joined(_ known: Record?, _ table: FieldTable, _ key: String) -> Record? {
    guard var record = known else { return table.count > 0 ? Record(key: key, table: table) : nil }
    for (position, name) in table.names.enumerated() {
      record.table.set(name, to: table.bytes(at: position), received: table.received(at: position))
    }
    return record
  }

  func reader() throws -> RecordReader {
    guard keeper.isReady, let offset = clock.offset else {
      throw StoreError(.unavailable, "the store in Redis cannot be used now; the log says why")
    }
    return RecordReader(client: client, layout: layout, counters: counters, offset: offset, localTime: clock.now)
  }

  /// Runs work whose failures are those of the store.
  func asking<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch let error as RedisError {
      if error.code == .budgetExhausted { counters.countExhausted() }
      switch error.code {
      case .cancelled: throw CancellationError()
      case .conflict: throw StoreError(.conflict, error.message)
      default: throw StoreError(.unavailable, error.message)
      }
    }
  }

  package func foundMalformedRecord() { counters.countMalformed() }

  // MARK: Writing

  package func merge(records: RecordSet) async throws -> ChangedKeys {
    let list = records.list(policy: .default)
    guard !list.isEmpty else { return ChangedKeys() }
    let changed = near.write(list)
    guard isAvailable else {
      lose(list, .unavailable)
      return changed
    }
    let write = WriteQueue.Write(
      records: list, changed: changed.entries.map { .init(key: $0.key, fields: $0.fields) }, bytes: WriteQueue.bytes(of: list),
      deadline: .now + settings.writeTime)
    if !queue.add(write) { lose(list, .full) }
    return changed
  }

  /// Drops a write. Its records must not stay in memory, because Redis and the other nodes do not have them.
  private func lose(_ records: [Record], _ reason: StoreCounters.DropReason) {
    for record in records { near.drop([], of: record.key) }
    counters.drop(1, reason)
  }

  package func apply(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys {
    guard !keys.isEmpty else {
      let changed = try await merge(records: records)
      // The next transaction must read what this one wrote.
      await queue.drained()
      return changed
    }
    let list = records.list(policy: .default)
    let changed = list.reduce(into: ChangedKeys()) { $0.insert($1.names, of: $1.key) }
    try await removing { scan in
      for root in keys where StoreLayout.isRoot(root) { try await scan.removeKeys(beginningWith: layout.rootPrefix(root)) }
      let entries =
        keys.map { Invalidation.Entry(key: $0, fields: []) } + changed.entries.map { .init(key: $0.key, fields: $0.fields) }
      try await writer.write(list, removing: keys.filter { !StoreLayout.isRoot($0) }, changed: entries, until: scan.deadline)
    }
    for key in keys + list.map(\.key) { near.drop([], of: key) }
    // The names of the removed fields are not known.
    invalidations.notify(.cleared)
    return changed
  }

  // MARK: Removing

  package func removeRecord(for key: String) async throws { _ = try await apply(removing: [key], merging: RecordSet()) }

  package func clear() async throws {
    try await removing { scan in
      for prefix in [layout.recordPrefix, layout.rootsPrefix] { try await scan.removeKeys(beginningWith: prefix) }
      try await writer.publish(nil, until: scan.deadline)
    }
    near.removeAll()
  }

  /// Runs work that looks at whole records.
  func inspecting<Result>(_ work: (StoreScan, RecordReader) async throws -> Result) async throws -> Result {
    let reader = try reader()
    return try await asking { try await work(StoreScan(client: client, deadline: .now + settings.removalTime), reader) }
  }

  /// Runs a removal after all writes that wait.
  private func removing(_ work: (StoreScan) async throws -> Void) async throws {
    let deadline = ContinuousClock.now + settings.removalTime
    _ = try reader()
    await queue.drained()
    try await asking { try await work(StoreScan(client: client, deadline: deadline)) }
  }
}
