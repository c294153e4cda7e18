internal import CarabinerRESP

/// Finds keys by `SCAN`, which does not hold up the server.
struct StoreScan {
  private static let step = 1000

  let client: RedisClient
  let deadline: ContinuousClock.Instant

  /// Calls a function with the keys that begin with a text, in steps. A key may come twice.
  func keys(beginningWith text: String, _ take: ([String]) async throws -> Void) async throws {
    var cursor = "0"
    repeat {
      var commands = CommandBatch()
      commands.begin("SCAN", arguments: 5)
      commands.add(cursor)
      commands.add("MATCH")
      commands.add(StoreLayout.pattern(beginningWith: text))
      commands.add("COUNT")
      commands.add(Self.step)
      let reply = try await client.send(commands, within: deadline - .now)[0]
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
      commands.begin("UNLINK", arguments: keys.count)
      for key in keys { commands.add(key) }
      let reply = try await client.send(commands, within: deadline - .now)[0]
      if let text = reply.errorText { throw RedisError(.serverRefused, "Redis refused UNLINK (\(text)); let the user run it") }
    }
  }
}
