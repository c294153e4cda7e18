package import Carabiner
internal import FoundationEssentials

extension SQLiteNormalizedCache: InspectableCache {
  package var place: String { path }

  /// The number of keys that a removal reads between two deletions.
  private static let batch: Int64 = 1_000

  /// Calls `body` for each record, in the order of keys, in one consistent view.
  ///
  /// - Parameters:
  ///   - pattern: The pattern of keys, in which `*` matches any text; nil for all.
  ///   - type: The type of records; nil for all.
  /// - Throws: ``StoreError``, or the error of the body.
  package func forEachRecord(
    matching pattern: String? = nil, type: String? = nil, _ body: (RecordSummary) throws -> Void
  ) throws {
    let pattern = KeyPattern(pattern ?? "*")
    try reading { connection in
      let statement = try connection.statement(
        """
        SELECT key, count(*), sum(length(CAST(field AS BLOB)) + length(CAST(value AS BLOB))), min(received), max(received),
          max(CASE field WHEN '__typename' THEN value END)
        FROM fields WHERE key >= ? GROUP BY key ORDER BY key
        """)
      try statement.bind(pattern.prefix.span, at: 1)
      defer { statement.reset() }
      while try statement.step() {
        let key = statement.string(0)
        // Keys are in the order of their bytes.
        guard key.utf8.starts(with: pattern.prefix) else { return }
        guard pattern.matches(key) else { continue }
        let summary = RecordSummary(
          key: key, type: RecordSummary.type(ofKey: key, typename: statement.isNull(5) ? nil : statement.string(5)),
          fieldCount: Int(statement.int(1)), byteCount: Int(statement.int(2)), oldest: statement.int(3), newest: statement.int(4))
        if type == nil || summary.type == type { try body(summary) }
      }
    }
  }

  /// Returns the statistics of the store.
  ///
  /// - Throws: ``StoreError``.
  package func statistics() throws -> StoreStatistics {
    let log = try? FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int
    var statistics = try reading { connection in
      StoreStatistics(
        schemaVersion: try connection.number("PRAGMA user_version"),
        fileBytes: try connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size"),
        logBytes: Int64(log ?? 0))
    }
    try forEachRecord { statistics.add($0) }
    return statistics
  }

  /// Removes the records of some keys in one transaction. Returns how many existed.
  ///
  /// - Throws: ``StoreError``.
  package func removeRecords(forKeys keys: [String]) throws -> Int {
    try writing { connection in
      try keys.count { try !Self.remove($0, connection).isEmpty }
    }
  }

  /// Removes the records whose keys match a pattern, in one transaction. Returns how many there were.
  ///
  /// - Throws: ``StoreError``.
  package func removeRecords(matching text: String) throws -> Int {
    let pattern = KeyPattern(text)
    return try writing { connection in
      var (removed, last) = (0, pattern.prefix)
      var isFirst = true
      while true {
        let keys = try Self.keys(after: last, orEqual: isFirst, connection)
        isFirst = false
        for key in keys where pattern.matches(key) {
          _ = try Self.remove(key, connection)
          removed += 1
        }
        guard let final = keys.last, final.utf8.starts(with: pattern.prefix) else { return removed }
        last = Array(final.utf8)
      }
    }
  }

  /// Some keys after a given one. All keys may not fit into memory, and rows must not be removed while a statement reads them.
  private static func keys(
    after key: [UInt8], orEqual: Bool, _ connection: SQLiteConnection
  ) throws -> [String] {
    let statement = try connection.statement(
      "SELECT DISTINCT key FROM fields WHERE key \(orEqual ? ">=" : ">") ? ORDER BY key LIMIT \(batch)")
    try statement.bind(key.span, at: 1)
    defer { statement.reset() }
    var keys: [String] = []
    while try statement.step() { keys.append(statement.string(0)) }
    return keys
  }
}
