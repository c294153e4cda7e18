internal import CarabinerRESP
internal import Synchronization

/// The right of a gateway to run the mutation of a key. No other gateway changes the record of the key.
package final class MutationLease: Sendable {
  private let keys: MutationKeys
  private let name: [UInt8]
  let fingerprint: [UInt8]
  private let run: [UInt8]
  private let renewing = Mutex<Task<Void, Never>?>(nil)

  init(_ keys: MutationKeys, name: [UInt8], fingerprint: [UInt8], run: [UInt8]) {
    (self.keys, self.name, self.fingerprint, self.run) = (keys, name, fingerprint, run)
  }

  deinit { renewing.withLock(\.self)?.cancel() }

  // MARK: Commands

  private var key: [UInt8] { Array("\(keys.store.tag)i:".utf8) + name }

  var running: KeyRecord {
    KeyRecord(fingerprint: fingerprint, .running(run: run, lease: keys.store.clock.offset.map { keys.store.clock.now + $0 } ?? 0))
  }

  var reading: CommandBatch {
    var commands = CommandBatch()
    commands.begin("GET", arguments: 1)
    commands.add(key)
    return commands
  }

  /// - Parameter condition: NX to write a new key only, or XX to write one that exists only.
  func writing(_ record: KeyRecord, condition: String) -> CommandBatch {
    let bytes = record.bytes
    var commands = CommandBatch(capacity: bytes.count + 256)
    commands.begin("SET", arguments: 5)
    commands.add(key)
    commands.add(bytes)
    commands.add(condition)
    commands.add("PX")
    commands.add(keys.life)
    return commands
  }

  // MARK: Renewal

  /// Begins to renew the lease until it ends.
  func renewed() -> Self {
    let task = Task { [weak self] in
      while (try? await Task.sleep(for: MutationKeys.renewal)) != nil, let lease = self {
        // A lease that cannot be renewed is renewed the next time.
        _ = try? await lease.keys.store.send(lease.writing(lease.running, condition: "XX"))
      }
    }
    renewing.withLock { $0 = task }
    return self
  }

  private func stopRenewing() async {
    let task = renewing.withLock { $0.take() }
    task?.cancel()
    // A renewal that is being sent must not arrive after the last record, which it would replace.
    await task?.value
  }

  // MARK: End

  /// Ends the lease with the answer of the mutation, for later requests with the key.
  ///
  /// - Parameter answer: The answer; nil if it is not known, or cannot be repeated.
  package func end(with answer: [UInt8]?) async {
    // Also if the gateway ends and cancels the caller.
    await Task { await self.write(answer) }.value
  }

  private func write(_ answer: [UInt8]?) async {
    await stopRenewing()
    let record = KeyRecord(fingerprint: fingerprint, answer.map { .answered($0) } ?? .unknown)
    guard await !write(record) else { return }
    if let answer, keys.endings.add(bytes: answer.count, { await self.write(record) }) { return }
    // There is no room for the answer, and the record without it is small.
    let unknown = KeyRecord(fingerprint: fingerprint, .unknown)
    keys.endings.add { await self.write(unknown) }
  }

  private func write(_ record: KeyRecord) async -> Bool {
    let replies = try? await keys.store.send(writing(record, condition: "XX"))
    // A key that is gone will not come back.
    return replies?.first.map { $0.kind != .error } ?? false
  }

  /// Gives the key back, because the mutation was not sent.
  package func release() async {
    await Task {
      await self.stopRenewing()
      if await !self.tryToRelease() { self.keys.endings.add { await self.tryToRelease() } }
    }.value
  }

  /// Removes the record if it is that of this run.
  ///
  /// - Parameter isCertain: Whether Redis took the key. If it may do so later, an absent record must be looked at again.
  /// - Returns: False if the store cannot be asked.
  func tryToRelease(isCertain: Bool = true) async -> Bool {
    guard let reply = try? await keys.store.send(reading).first, reply.kind != .error else {
      return false
    }
    if reply.isNull { return isCertain }
    guard case .running(let other, _)? = reply.content.flatMap({ KeyRecord($0) })?.state, other == run else { return true }
    var commands = CommandBatch()
    commands.begin("UNLINK", arguments: 1)
    commands.add(key)
    return (try? await keys.store.send(commands).first?.kind == .integer) ?? false
  }
}
