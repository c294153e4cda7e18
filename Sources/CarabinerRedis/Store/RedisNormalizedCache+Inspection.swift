package import Carabiner
internal import CarabinerRESP

/// Reads that look at more than an operation needs. `carabiner serve` uses them only for plugins that ask for whole records.
extension RedisNormalizedCache {
  package func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    let list = Array(keys)
    return try await zip(list, records(forKeys: list)).reduce(into: [:]) { $0[$1.0] = $1.1 }
  }

  package func records(forKeys keys: [String]) async throws -> [Record?] {
    try await inspecting { scan, reader in
      var tables = try await objects(keys.filter { !StoreLayout.isRoot($0) }, scan, reader)[...]
      var records: [Record?] = []
      for key in keys {
        let table = try await StoreLayout.isRoot(key) ? root(key, scan, reader) : tables.removeFirst()
        records.append(table.count > 0 ? Record(key: key, table: table) : nil)
      }
      return records
    }
  }

  /// How many records are asked for at once.
  private static let batch = 100

  private func objects(_ keys: [String], _ scan: StoreScan, _ reader: RecordReader) async throws -> [FieldTable] {
    var tables: [FieldTable] = []
    for start in stride(from: 0, to: keys.count, by: Self.batch) {
      var commands = CommandBatch()
      let names = keys[start..<min(start + Self.batch, keys.count)].map { reader.layout.recordKey($0) }
      for name in names {
        commands.begin("HGETALL", arguments: 1)
        commands.add(name)
      }
      for reply in try await scan.client.send(commands, ofKeys: names, within: scan.deadline - .now) {
        tables.append(try Self.table(reply, reader))
      }
    }
    return tables
  }

  /// The fields of a record from the answer of `HGETALL`.
  ///
  /// - Throws: ``RedisError`` if the answer is an error.
  static func table(_ reply: Reply, _ reader: RecordReader) throws(RedisError) -> FieldTable {
    if let text = reply.errorText { throw RedisError(.serverRefused, "Redis refused HGETALL (\(text)); let the user run it") }
    var (names, values): ([String], [Reply]) = ([], [])
    for (number, value) in reply.values.enumerated() {
      if number.isMultiple(of: 2) { names.append(value.string ?? "") } else { values.append(value) }
    }
    let fields = zip(names, values).filter { $0.0 != StoreLayout.longKeyField }
    return reader.answer(fields.map(\.0), fields.map(\.1)).table
  }

  private func root(_ root: String, _ scan: StoreScan, _ reader: RecordReader) async throws -> FieldTable {
    let prefix = reader.layout.rootPrefix(root)
    var (names, values): ([String], [Reply]) = ([], [])
    // SCAN may return a key twice.
    var known: Set<String> = []
    try await scan.keys(beginningWith: prefix) { keys in
      var commands = CommandBatch()
      let new = keys.filter { known.insert($0).inserted }
      for key in new {
        commands.begin("GET", arguments: 1)
        commands.add(key)
      }
      guard commands.count > 0 else { return }
      names += new
      values += try await scan.client.send(commands, ofKeys: new, within: scan.deadline - .now)
    }
    return reader.answer(names.map { reader.layout.name(in: $0, after: prefix) }, values).table
  }

  package func keys(matching pattern: String?) async throws -> [String] {
    let pattern = pattern.map { KeyPattern($0) }
    return try await inspecting { scan, reader in
      var found: Set<String> = []
      let prefix = reader.layout.recordPrefix
      try await scan.keys(beginningWith: prefix) { keys in
        var (commands, long) = (CommandBatch(), [String]())
        for key in keys {
          let name = reader.layout.name(in: key, after: prefix)
          if StoreLayout.isShort(name) {
            found.insert(name)
          } else {
            long.append(key)
            commands.begin("HMGET", arguments: 2)
            commands.add(key)
            commands.add(StoreLayout.longKeyField)
          }
        }
        guard commands.count > 0 else { return }
        for reply in try await scan.client.send(commands, ofKeys: long, within: scan.deadline - .now) {
          for value in reply.values { if let name = value.string { found.insert(name) } }
        }
      }
      for root in RootRecord.allCases {
        try await scan.keys(beginningWith: reader.layout.rootPrefix(root.rawValue)) { _ in found.insert(root.rawValue) }
      }
      return found.filter { pattern?.matches($0) ?? true }
    }
  }
}
