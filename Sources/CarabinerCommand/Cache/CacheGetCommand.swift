internal import ArgumentParser
internal import Carabiner
internal import CarabinerWire

/// `carabiner cache get`
struct CacheGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print a record: for each field the time when it was received, its name, and its value.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The record's key, as ls prints it.") var key: String

  func run() async throws {
    try await store.withStore { cache in
      guard let record = try await cache.records(forKeys: [key]).first ?? nil else {
        Terminal.complain("there is no record \(PrintableText.escaping(key)); carabiner cache ls lists the records")
        throw ExitStatus.noSuchRecord
      }
      switch store.format {
      case .text: Terminal.emit(text(record))
      case .json: Terminal.emit(String(decoding: try json(record).serialized(pretty: true), as: UTF8.self))
      }
    }
  }

  private func text(_ record: Record) -> String {
    let width = record.names.map(\.count).max() ?? 0
    let lines = record.names.sorted().map { name in
      let value = String(decoding: record[name] ?? [], as: UTF8.self)
      let padding = String(repeating: " ", count: width - name.count)
      return "\(TextColumn.time(record.received(name) ?? 0))  \(PrintableText.escaping(name))\(padding)  "
        + PrintableText.escaping(value)
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ record: Record) throws -> JSONValue {
    var fields = JSONObject()
    for name in record.names.sorted() {
      fields[name] = [
        "value": try JSONValue(parsing: record[name] ?? []), "received": .number(JSONNumber(Int(record.received(name) ?? 0))),
      ]
    }
    let typename = record["__typename"].map { String(decoding: $0, as: UTF8.self) }
    let type = RecordSummary.type(ofKey: record.key, typename: typename)
    return ["key": .string(record.key), "type": type.map { .string($0) } ?? .null, "fields": .object(fields)]
  }
}
