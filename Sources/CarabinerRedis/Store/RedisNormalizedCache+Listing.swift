package import Carabiner
internal import CarabinerRESP

/// Listings and removals by a person. Keys are found by `SCAN`, so the server and its clients are not held up.
extension RedisNormalizedCache: InspectableCache {
  /// How many records are read or removed at once.
  private static let step = 500
  private static let availabilityInterval = Duration.milliseconds(20)

  package var place: String {
    settings.connection.urls.map(\.description).joined(separator: ",") + " " + settings.prefix
  }

  /// Waits until reads and writes reach Redis.
  ///
  /// - Throws: ``StoreError`` with code `unavailable` if they do not in time, `CancellationError`.
  package func waitUntilAvailable(for time: Duration) async throws {
    let deadline = ContinuousClock.now + time
    while !isAvailable {
      guard .now < deadline else {
        throw StoreError(
          .unavailable, "the store in Redis at \(place) cannot be used after \(time.components.seconds) s; see the log above")
      }
      try await Task.sleep(for: Self.availabilityInterval)
    }
  }

  package func forEachRecord(
    matching pattern: String?, type: String?, _ body: (RecordSummary) throws -> Void
  ) async throws {
    let keys = try await sortedKeys(matching: pattern)
    for start in stride(from: 0, to: keys.count, by: Self.step) {
      // A record may have expired or have been removed since its key was found.
      for case let record? in try await records(forKeys: Array(keys[start..<min(start + Self.step, keys.count)])) {
        let summary = RecordSummary(record)
        if type == nil || summary.type == type { try body(summary) }
      }
    }
  }

  package func statistics() async throws -> StoreStatistics {
    var statistics = StoreStatistics(schemaVersion: Int64(StoreLayout.version))
    try await forEachRecord(matching: nil, type: nil) { statistics.add($0) }
    return statistics
  }

  package func removeRecords(forKeys keys: [String]) async throws -> Int {
    let existing = try await existing(among: Set(keys).sorted())
    guard !existing.isEmpty else { return 0 }
    _ = try await apply(removing: existing, merging: RecordSet())
    return existing.count
  }

  /// The keys that exist, also those of records with malformed values.
  private func existing(among keys: [String]) async throws -> [String] {
    try await inspecting { scan, reader in
      var existing: [String] = []
      for key in keys {
        guard !StoreLayout.isRoot(key) else {
          if try await !scan.keys(beginningWith: reader.layout.rootPrefix(key)).isEmpty { existing.append(key) }
          continue
        }
        var commands = CommandBatch()
        commands.begin("EXISTS", arguments: 1)
        let name = reader.layout.recordKey(key)
        commands.add(name)
        let reply = try await scan.client.send(commands, ofKeys: [name], within: scan.deadline - .now)[0]
        if let text = reply.errorText { throw RedisError(.serverRefused, "Redis refused EXISTS (\(text)); let the user run it") }
        if reply.integer == 1 { existing.append(key) }
      }
      return existing
    }
  }

  package func removeRecords(matching pattern: String) async throws -> Int {
    let keys = try await sortedKeys(matching: pattern)
    for start in stride(from: 0, to: keys.count, by: Self.step) {
      _ = try await apply(removing: Array(keys[start..<min(start + Self.step, keys.count)]), merging: RecordSet())
    }
    return keys.count
  }

  private func sortedKeys(matching pattern: String?) async throws -> [String] {
    try await keys(matching: pattern).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
