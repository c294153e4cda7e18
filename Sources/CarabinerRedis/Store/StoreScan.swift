internal import CarabinerRESP

/// Finds keys by `SCAN`, which does not hold up the server.
struct StoreScan {
  private static let step = 1000

  let client: RedisClient
  let deadline: ContinuousClock.Instant

  /// How often the nodes of a cluster are searched again because slots were moved meanwhile.
  private static let repetitions = 3

  /// Calls a function with the keys that begin with a text, in steps. A key may come twice.
  ///
  /// In a cluster all masters must be reached.
  func keys(beginningWith text: String, _ take: ([String]) async throws -> Void) async throws {
    guard let cluster = client.cluster else {
      return try await keys(beginningWith: text, { try await client.send($0, within: deadline - .now) }, take)
    }
    for _ in 0...Self.repetitions {
      let changes = cluster.changes
      for node in cluster.keyHolders {
        let pool = try await cluster.opened(node, until: deadline)
        try await keys(beginningWith: text, { try await pool.send($0, within: deadline - .now) }, take)
      }
      // Keys that were moved from a node to one before it may have been missed.
      if changes == cluster.changes { return }
    }
    throw RedisError(.unavailable, "the slots of the cluster are being moved; try again when that has ended")
  }

  private func keys(
    beginningWith text: String, _ send: (CommandBatch) async throws -> [Reply], _ take: ([String]) async throws -> Void
  ) async throws {
    var cursor = "0"
    repeat {
      var commands = CommandBatch()
      commands.begin("SCAN", arguments: 5)
      commands.add(cursor)
      commands.add("MATCH")
      commands.add(StoreLayout.pattern(beginningWith: text))
      commands.add("COUNT")
      commands.add(Self.step)
      let reply = try await send(commands)[0]
      let parts = Array(reply.values)
      guard parts.count == 2, let next = parts[0].string else {
        throw RedisError(
          .serverRefused, "Redis refused SCAN (\(reply.errorText ?? "its answer is malformed")); let the user run it")
      }
      let keys = parts[1].values.compactMap(\.string)
      if !keys.isEmpty { try await take(keys) }
      cursor = next
    } while cursor != "0"
  }

  /// The keys that begin with a text.
  func keys(beginningWith text: String) async throws -> Set<String> {
    var found: Set<String> = []
    try await keys(beginningWith: text) { found.formUnion($0) }
    return found
  }

  /// Removes the keys that begin with a text.
  func removeKeys(beginningWith text: String) async throws {
    try await keys(beginningWith: text) { keys in
      var commands = CommandBatch()
      // In a cluster, keys of one slot may be on two nodes while it is moved.
      let step = client.cluster == nil ? keys.count : 1
      for start in stride(from: 0, to: keys.count, by: step) {
        commands.begin("UNLINK", arguments: step)
        for key in keys[start..<start + step] { commands.add(key) }
      }
      let replies = try await client.send(commands, ofKeys: keys, within: deadline - .now)
      if let text = replies.lazy.compactMap(\.errorText).first {
        throw RedisError(.serverRefused, "Redis refused UNLINK (\(text)); let the user run it")
      }
    }
  }
}
