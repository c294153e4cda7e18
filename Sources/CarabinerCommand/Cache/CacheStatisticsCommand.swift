internal import ArgumentParser
internal import Carabiner
internal import CarabinerWire

/// `carabiner cache stats`
struct CacheStatisticsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Print statistics of a store: records by type, bytes, and age.")

  @OptionGroup var store: StoreOptions

  func run() async throws {
    try await store.withStore { cache in
      let statistics = try await cache.statistics()
      switch store.format {
      case .text: Terminal.emit(text(statistics, cache.place))
      case .json: Terminal.emit(String(decoding: json(statistics, cache.place).serialized(pretty: true), as: UTF8.self))
      }
    }
  }

  /// The types, sorted by the number of records; records without a type come last.
  private func types(_ statistics: StoreStatistics) -> [(name: String?, share: StoreStatistics.TypeShare)] {
    let sorted = statistics.types.sorted { left, right in
      guard left.key.isEmpty == right.key.isEmpty else { return right.key.isEmpty }
      guard left.value.recordCount == right.value.recordCount else { return left.value.recordCount > right.value.recordCount }
      return left.key < right.key
    }
    return sorted.map { ($0.key.isEmpty ? nil : $0.key, $0.value) }
  }

  private func text(_ statistics: StoreStatistics, _ path: String) -> String {
    func row(_ name: String, _ value: String) -> String {
      name + String(repeating: " ", count: max(1, 17 - name.count)) + value
    }
    var lines = [
      row("store", PrintableText.escaping(path)), row("schema version", "\(statistics.schemaVersion)"),
    ]
    if let bytes = statistics.fileBytes { lines.append(row("file", "\(bytes) bytes")) }
    if let bytes = statistics.logBytes { lines.append(row("write-ahead log", "\(bytes) bytes")) }
    lines += [
      row("records", "\(statistics.recordCount)"),
      row("fields", "\(statistics.fieldCount), \(statistics.byteCount) bytes of names and values"),
    ]
    if let oldest = statistics.oldest, let newest = statistics.newest {
      lines.append(row("received", "\(TextColumn.time(oldest)) to \(TextColumn.time(newest))"))
    }
    if !statistics.types.isEmpty { lines.append("\n  records      bytes  type") }
    lines += types(statistics).map { name, share in
      "\(TextColumn.right(share.recordCount, 9)) \(TextColumn.right(share.byteCount, 10))  "
        + (name.map { PrintableText.escaping($0) } ?? "(none)")
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ statistics: StoreStatistics, _ path: String) -> JSONValue {
    func number(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(Int(value))) }
    return [
      "store": .string(path), "schemaVersion": number(statistics.schemaVersion),
      "fileBytes": statistics.fileBytes.map { number($0) } ?? .null, "logBytes": statistics.logBytes.map { number($0) } ?? .null,
      "records": number(statistics.recordCount), "fields": number(statistics.fieldCount),
      "bytes": number(statistics.byteCount), "oldest": statistics.oldest.map { number($0) } ?? .null,
      "newest": statistics.newest.map { number($0) } ?? .null,
      "types": .array(
        types(statistics).map { name, share in
          ["type": name.map { .string($0) } ?? .null, "records": number(share.recordCount), "bytes": number(share.byteCount)]
        }),
    ]
  }
}
