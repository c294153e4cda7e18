package import CarabinerRESP

/// A count that gateways keep together, in two windows of time.
package struct SharedCount: Sendable {
  /// The names of the count in the current window and in the one before.
  package let name: [UInt8]
  package let lastName: [UInt8]
  /// The number to add to each.
  package let added: Int
  package let addedToLast: Int

  package init(name: [UInt8], lastName: [UInt8], added: Int, addedToLast: Int) {
    (self.name, self.lastName, self.added, self.addedToLast) = (name, lastName, added, addedToLast)
  }
}

/// The answer to a round of counts.
package struct SharedTotals: Sendable {
  /// The totals of all gateways, one for each count.
  package let totals: [(current: Int, last: Int)]
  /// The time of the server minus the local monotonic time, in milliseconds.
  package let offset: Int64
}

extension SharedStore {
  /// Larger counts are read as this one, so that sums cannot overflow.
  private static let largestCount = 1 << 40

  /// Adds to counts and reads them.
  ///
  /// - Parameter life: How long a count is kept after it was changed.
  /// - Throws: ``RedisError``. With code `unavailable` or `overloaded`, nothing was sent.
  package func exchange(_ counts: [SharedCount], life: Duration) async throws(RedisError) -> SharedTotals {
    var commands = CommandBatch(capacity: counts.count * 256)
    let milliseconds = Int(life / .milliseconds(1))
    for count in counts {
      add(count.added, to: count.name, milliseconds, &commands)
      add(count.addedToLast, to: count.lastName, milliseconds, &commands)
    }
    var replies = try await send(commands)[...]
    var totals: [(current: Int, last: Int)] = []
    totals.reserveCapacity(counts.count)
    for count in counts {
      let current = try Self.total(&replies, wasAdded: count.added > 0)
      totals.append((current, try Self.total(&replies, wasAdded: count.addedToLast > 0)))
    }
    guard let offset = clock.offset else { throw RedisError(.unavailable, "the time of Redis is not known yet") }
    return SharedTotals(totals: totals, offset: offset)
  }

  private func add(_ number: Int, to name: [UInt8], _ life: Int, _ commands: inout CommandBatch) {
    let key = Array("\(tag)l:".utf8) + name
    guard number > 0 else {
      commands.begin("GET", arguments: 1)
      return commands.add(key)
    }
    commands.begin("INCRBY", arguments: 2)
    commands.add(key)
    commands.add(number)
    commands.begin("PEXPIRE", arguments: 2)
    commands.add(key)
    commands.add(life)
  }

  private static func total(_ replies: inout ArraySlice<Reply>, wasAdded: Bool) throws(RedisError) -> Int {
    guard let reply = replies.popFirst() else { throw RedisError(.protocolViolation, "Redis answered too little") }
    if wasAdded { _ = replies.popFirst() }
    if reply.kind == .error, !isForeign(reply) { throw refusal(wasAdded ? "INCRBY" : "GET", reply) }
    let number = reply.integer ?? reply.string.flatMap { Int($0) } ?? 0
    return min(max(number, 0), largestCount)
  }

  /// Whether a command failed because another program has written the key. It counts as 0, for the other clients' sake.
  private static func isForeign(_ reply: Reply) -> Bool {
    reply.errorCode == "WRONGTYPE" || reply.errorText?.hasPrefix("ERR value is not an integer") == true
      || reply.errorText?.hasPrefix("ERR increment or decrement would overflow") == true
  }
}
