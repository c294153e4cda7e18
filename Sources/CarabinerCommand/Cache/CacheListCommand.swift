internal import ArgumentParser
internal import Carabiner
internal import CarabinerWire
internal import Foundation

/// `carabiner cache ls`
struct CacheListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List records: fields, bytes, time of the newest field, key, and type.")

  @OptionGroup var store: StoreOptions
  @Option(name: .long, help: "Only records of this type.") var type: String?
  @Argument(help: "Only records whose keys match.") var pattern: String?

  func run() async throws {
    try await store.withStore { cache in
      var lines = LineBuffer()
      try await cache.forEachRecord(matching: pattern, type: type) { record in
        lines.append(store.format == .json ? record.json.description : record.line)
      }
      lines.flush()
    }
  }
}

extension RecordSummary {
  fileprivate var json: JSONValue {
    [
      "key": .string(key), "type": type.map { .string($0) } ?? .null, "fields": .number(JSONNumber(fieldCount)),
      "bytes": .number(JSONNumber(byteCount)), "oldest": .number(JSONNumber(Int(oldest))),
      "newest": .number(JSONNumber(Int(newest))),
    ]
  }

  fileprivate var line: String {
    let key = PrintableText.escaping(key)
    // Most keys begin with their type, so it is not repeated.
    let type = type.map { self.key.hasPrefix("\($0):") ? "" : "  (\(PrintableText.escaping($0)))" } ?? ""
    return
      "\(TextColumn.right(fieldCount, 6)) \(TextColumn.right(byteCount, 9))  \(TextColumn.time(newest))  \(key)\(type)"
  }
}
