internal import Carabiner
internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// Sends the writes of a queue.
final class RecordWriter: Sendable {
  private struct State {
    /// Records with too many fields, which are removed before they are written again.
    var large: Set<String> = []
    /// Until then nothing is written, because Redis has no memory left.
    var pause: ContinuousClock.Instant?
    /// The last refusal that was logged.
    var refusal = ""
  }

  /// A record with more fields is removed before the next write. Otherwise, the fields of all arguments would accumulate in it.
  static let maximumFields = 512
  /// The records of each transaction of a write that is too large for one.
  static let step = 250
  private static let maximumLarge = 1000
  /// Longer keys, which contain text of clients, are not remembered.
  private static let maximumLargeKeyBytes = 512

  let client: RedisClient
  let layout: StoreLayout
  let lives: StoreLives
  private let clock: ServerClock
  let counters: StoreCounters
  let node: [UInt8]
  let near: NearCache
  private let pauseTime: Duration
  private let logger: Logger
  private let state = Mutex(State())

  init(
    _ client: RedisClient, _ layout: StoreLayout, _ lives: StoreLives, _ clock: ServerClock, _ counters: StoreCounters,
    _ near: NearCache, node: [UInt8], pauseTime: Duration, _ logger: Logger
  ) {
    (self.client, self.layout, self.lives, self.clock) = (client, layout, lives, clock)
    (self.counters, self.near, self.node, self.pauseTime, self.logger) = (counters, near, node, pauseTime, logger)
  }

  // MARK: The queue

  /// Writes the records of one large or several small writes.
  func send(_ writes: [WriteQueue.Write]) async {
    let now = ContinuousClock.now
    let current = writes.filter { $0.deadline > now }
    if current.count < writes.count { lose(writes.filter { $0.deadline <= now }, .late) }
    guard let last = current.last else { return }
    guard !isPaused(now) else { return lose(current, .memory) }
    do {
      let changed = current.flatMap(\.changed)
      try await write(current.flatMap(\.records), removing: [], changed: changed, until: last.deadline)
    } catch {
      lose(current, reason(error))
    }
  }

  /// Drops writes. Their records must not stay in memory, because Redis and the other nodes do not have them.
  private func lose(_ writes: [WriteQueue.Write], _ reason: StoreCounters.DropReason) {
    for write in writes { for record in write.records { near.drop([], of: record.key) } }
    counters.drop(writes.count, reason)
  }

  private func isPaused(_ now: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      if let pause = state.pause, pause <= now { state.pause = nil }
      return state.pause != nil
    }
  }

  private func reason(_ error: any Error) -> StoreCounters.DropReason {
    guard let error = error as? RedisError, error.code == .transactionRefused else { return .unavailable }
    guard error.message.contains("(OOM ") else {
      let isNew = state.withLock { state in
        defer { state.refusal = error.message }
        return state.refusal != error.message
      }
      if isNew { logger.warning("a write to the store was dropped: \(error.message)") }
      return .refused
    }
    state.withLock { $0.pause = .now + pauseTime }
    logger.warning(
      "the store is not written for \(pauseTime): Redis has no memory left; raise maxmemory, or set an eviction policy")
    return .memory
  }

  // MARK: Transactions

  /// Removes and writes records, with a message to the other nodes.
  ///
  /// - Parameter changed: The entries of the message, which is not sent if there are none.
  /// - Throws: ``RedisError``.
  func write(
    _ records: [Record], removing keys: [String], changed: [Invalidation.Entry], until deadline: ContinuousClock.Instant
  ) async throws {
    guard let offset = clock.offset else {
      throw RedisError(.unavailable, "the clock of Redis is not known yet; the log says why")
    }
    if let cluster = client.cluster, layout.isSpread {
      try await writeSpread(records, removing: keys, changed: changed, offset: offset, cluster, until: deadline)
      return
    }
    let isOne = records.count <= WriteQueue.maximumRecords
    var rest = (isOne ? records : RecordOrder.childrenFirst(records))[...]
    var removed = keys
    repeat {
      let part = isOne ? rest : rest.prefix(Self.step)
      rest = rest.dropFirst(part.count)
      var commands = RecordCommands(layout, lives, offset: offset)
      for key in removed { commands.remove(key) }
      removed = []
      for key in takeLarge(among: part) { commands.remove(key) }
      for record in part { commands.write(record) }
      // The message is in the last transaction, so other nodes read again when all is there.
      if rest.isEmpty, !changed.isEmpty { commands.publish(Invalidation(node: node, entries: changed)) }
      guard commands.batch.count > 0 else { continue }
      let replies = try await client.transaction(commands.batch, within: deadline - .now)
      if rest.isEmpty, !changed.isEmpty { counters.countSent() }
      near.noteWritten(part)
      for (position, key) in commands.lengths where replies[position].integer ?? 0 > Self.maximumFields { addLarge(key) }
    } while !rest.isEmpty
  }

  /// Removes and writes records in one transaction, if no watched key was changed, with a message to the other nodes.
  ///
  /// - Parameters:
  ///   - keys: The records of objects to remove.
  ///   - names: Further keys of Redis to remove.
  ///   - changed: The entries of the message.
  /// - Throws: ``RedisError``.
  func commit(
    _ records: [Record], removing keys: [String], _ names: [String], changed: [Invalidation.Entry], over session: RedisSession,
    until deadline: ContinuousClock.Instant
  ) async throws {
    guard let offset = clock.offset else {
      throw RedisError(.unavailable, "the clock of Redis is not known yet; the log says why")
    }
    var commands = RecordCommands(layout, lives, offset: offset)
    for key in keys + takeLarge(among: records[...]) { commands.remove(key) }
    for start in stride(from: 0, to: names.count, by: Self.step) {
      commands.removeKeys(names[start..<min(start + Self.step, names.count)])
    }
    for record in records { commands.write(record) }
    commands.publish(Invalidation(node: node, entries: changed))
    let replies = try await session.transaction(commands.batch, within: deadline - .now)
    counters.countSent()
    for (position, key) in commands.lengths where replies[position].integer ?? 0 > Self.maximumFields { addLarge(key) }
  }

  /// Notifies the other nodes of changes; nil if anything may have changed.
  func publish(_ entries: [Invalidation.Entry]?, until deadline: ContinuousClock.Instant) async throws {
    var commands = RecordCommands(layout, lives, offset: 0)
    commands.publish(Invalidation(node: node, entries: entries))
    _ = try await client.send(commands.batch, within: deadline - .now)
  }

  func takeLarge(among records: ArraySlice<Record>) -> [String] {
    state.withLock { state in
      guard !state.large.isEmpty else { return [] }
      return records.compactMap { state.large.remove($0.key) }
    }
  }

  func addLarge(_ key: String) {
    guard key.utf8.count <= Self.maximumLargeKeyBytes else { return }
    state.withLock { state in
      if state.large.count >= Self.maximumLarge { state.large.removeAll() }
      state.large.insert(key)
    }
  }
}
