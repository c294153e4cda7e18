internal import Carabiner
internal import CarabinerRESP

/// Writes to a store that is spread over the masters of a cluster.
extension RecordWriter {
  /// The commands of one key, and the record of which they write all fields.
  private struct Part {
    let commands: SlotCommands
    /// The key of the record; nil for a field of a root, and for removals.
    let record: String?
  }

  /// Removes and writes records, each by itself, with a message to the other nodes.
  ///
  /// Records that are referred to are written before those that refer to them, and the message comes last. If one cannot be written,
  /// the following ones are not, and the message says that all may have changed.
  ///
  /// - Throws: ``RedisError``.
  func writeSpread(
    _ records: [Record], removing keys: [String], changed: [Invalidation.Entry], offset: Int64, _ cluster: RedisCluster,
    until deadline: ContinuousClock.Instant
  ) async throws(RedisError) {
    var failure: RedisError?
    do throws(RedisError) {
      try await sendSpread(records, removing: keys, offset, cluster, until: deadline)
    } catch {
      failure = error
    }
    if !changed.isEmpty {
      do throws(RedisError) {
        // Some masters may have what another one did not take.
        try await publish(changed, offset, within: failure == nil ? deadline - .now : Self.lateTime)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// The time for the message after a failure, which may have used up the time of the write.
  private static let lateTime = Duration.seconds(1)

  private func sendSpread(
    _ records: [Record], removing keys: [String], _ offset: Int64, _ cluster: RedisCluster,
    until deadline: ContinuousClock.Instant
  ) async throws(RedisError) {
    for start in stride(from: 0, to: keys.count, by: Self.step) {
      try await send(keys[start..<min(start + Self.step, keys.count)].map(removal), cluster, until: deadline)
    }
    let large = Set(takeLarge(among: records[...]))
    for level in RecordOrder.levels(records) {
      for start in stride(from: 0, to: level.count, by: Self.step) {
        let some = level[start..<min(start + Self.step, level.count)]
        try await send(some.flatMap { parts(of: $0, offset, replacing: large.contains($0.key)) }, cluster, until: deadline)
        near.noteWritten(some)
      }
    }
  }

  private func publish(_ changed: [Invalidation.Entry], _ offset: Int64, within time: Duration) async throws(RedisError) {
    var message = RecordCommands(layout, lives, offset: offset)
    message.publish(Invalidation(node: node, entries: changed))
    if let text = try await client.send(message.batch, within: time).first?.errorText {
      throw RedisError(.transactionRefused, "Redis refused PUBLISH (\(text)); let the user run it")
    }
    counters.countSent()
  }

  private func removal(_ key: String) -> Part {
    var commands = RecordCommands(layout, lives, offset: 0)
    commands.remove(key)
    return Part(commands: SlotCommands(slot: HashSlot(key: layout.recordKey(key)), commands: commands.batch), record: nil)
  }

  /// - Parameter isReplacing: Whether the record is removed first, in the same transaction.
  private func parts(of record: Record, _ offset: Int64, replacing isReplacing: Bool) -> [Part] {
    guard record.table.count > 0 else { return [] }
    var commands = RecordCommands(layout, lives, offset: offset)
    if isReplacing { commands.remove(record.key) }
    commands.write(record)
    guard StoreLayout.isRoot(record.key) else {
      // A transaction, so that no record stays without an end of its life.
      let (slot, all) = (HashSlot(key: layout.recordKey(record.key)), Transaction.wrapped(commands.batch))
      return [Part(commands: SlotCommands(slot: slot, commands: all), record: record.key)]
    }
    return zip(record.table.names, commands.batch.commands).map { name, command in
      Part(commands: SlotCommands(slot: HashSlot(key: layout.rootFieldKey(record.key, name)), commands: command), record: nil)
    }
  }

  /// Sends parts and waits until all are written.
  private func send(_ parts: [Part], _ cluster: RedisCluster, until deadline: ContinuousClock.Instant) async throws(RedisError) {
    guard !parts.isEmpty else { return }
    let results = await cluster.send(parts.map(\.commands), within: deadline - .now)
    var failure: RedisError?
    for (part, result) in zip(parts, results) {
      do throws(RedisError) {
        try take(try result.get(), of: part)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func take(_ replies: [Reply], of part: Part) throws(RedisError) {
    guard let record = part.record else {
      guard let error = replies.first(where: { $0.kind == .error }) else { return }
      throw RedisError(
        error.isUnavailable ? .unavailable : .transactionRefused,
        "Redis refused a write (\(error.errorText ?? "")); check memory, permissions and type of the keys")
    }
    let answers = try Transaction.result(of: replies, part.commands.commands.count - 2, inCluster: true)
    // The last one is that of HLEN.
    if answers.last?.integer ?? 0 > Self.maximumFields { addLarge(record) }
  }
}
