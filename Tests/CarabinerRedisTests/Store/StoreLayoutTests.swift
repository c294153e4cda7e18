import Carabiner
import CarabinerRESP
import CarabinerRedis
import CarabinerWire
import Foundation
import TestTools
import Testing

/// The keys and values in Redis, compared byte by byte.
@Suite("The layout of the store in Redis")
struct StoreLayoutTests {
  private static let received: Int64 = 1_700_000_000_000
  /// One record was received so much later, in milliseconds.
  private static let later: Int64 = 60_000
  /// By how much a time in Redis may differ: its clock is asked over the network, again for each connection, on a busy machine.
  private static let tolerance: Int64 = 25_000

  @Test("keys and values of a fixed response are those of the golden file", .rule("redis.5", "redis.6"))
  func golden() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    let long = String(repeating: "k", count: 500)
    var records = [
      Record(key: "QUERY_ROOT", table: .init([("hero", #"{"$ref":"H:1"}"#), ("n(a:\(long)\(long))", "1")], Self.received)),
      Record(key: "MUTATION_ROOT", table: .init([("add", "true")], Self.received)),
      Record(key: "SUBSCRIPTION_ROOT", table: .init([("tick", "1")], Self.received)),
      Record(
        key: "H:1",
        table: .init([("__typename", #""H""#), ("id", "1"), ("name", #""ü\n""#), ("... on Droid", "false")], Self.received)),
      Record(key: "H:2", table: .init([("a", "[[],null]")], Self.received + Self.later)),
    ]
    records.append(Record(key: "H:" + long + long, table: .init([("b", "1.5")], Self.received)))
    records.append(Record(key: "#H", table: .init([("f" + long + long, "2")], Self.received)))
    try await node.store.publish(records: RecordSet(records))
    await node.cache.drained()
    let offset = try #require(node.cache.clockOffset)
    var lines: [String] = []
    for key in try server.keys() {
      switch try server.ask("TYPE", key) {
      case "string": lines.append("\(key) = \(try server.ask("--raw", "GET", key))")
      default:
        let parts = try server.ask("--raw", "HGETALL", key).split(separator: "\n", omittingEmptySubsequences: false)
        for place in stride(from: 0, to: parts.count, by: 2) { lines.append("\(key) \(parts[place]) = \(parts[place + 1])") }
      }
    }
    // Times in Redis are by its clock. Each is the one that was meant, or differs by less than the tolerance.
    let text = lines.sorted().map { $0.replacing(/\ = [0-9]{13}/) { " = \(Self.meant(by: $0.output, offset))" } }
      .joined(separator: "\n")
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/layout.txt")
    if ProcessInfo.processInfo.environment["CARABINER_RECORD"] == "1" { try Data((text + "\n").utf8).write(to: file) }
    #expect(text + "\n" == (try String(contentsOf: file, encoding: .utf8)))
    // All names are found again.
    #expect(try await node.cache.keys(matching: nil).sorted() == Set(records.map(\.key)).sorted())
    for record in records {
      let found = try await node.cache.records(for: [(record.key, record.names)])[0]
      #expect(found?.table == record.table)
      let (seen, sent) = (found?.received(record.names[0]) ?? 0, record.received(record.names[0]) ?? 0)
      #expect(abs(seen - sent) < Self.tolerance)
    }
  }

  /// The time that ` = ` and 13 digits mean, if the tolerance is enough; the time itself otherwise.
  private static func meant(by text: Substring, _ offset: Int64) -> Int64 {
    let time = (Int64(text.dropFirst(3)) ?? 0) - offset
    return [received, received + later].first { abs(time - $0) < tolerance } ?? time
  }

  @Test(
    "a prefix has 1 to 64 letters, digits and hyphens", .rule("redis.5"),
    arguments: ["", "a b", "ä", "a:b", String(repeating: "x", count: 65)])
  func prefix(text: String) {
    #expect(!StorePrefix.isValid(text))
    #expect(throws: RedisError.self) { try TestNode("redis://127.0.0.1:1") { $0.prefix = text } }
  }

  @Test("a root's removal does not touch a root whose name only begins like it, and a prefix is not a pattern", .rule("redis.11"))
  func neighbours() async throws {
    let server = try await RedisServer()
    let (one, other) = (
      try await TestNode.ready(server) { $0.prefix = "a" }, try await TestNode.ready(server) { $0.prefix = "ab" }
    )
    for node in [one, other] { try await node.publish(#"{"n":1}"#, for: "{ n }") }
    try await one.store.clearCache()
    #expect(try await one.data("{ n }") == nil)
    #expect(try await other.data("{ n }") == ["n": 1])
  }
}

extension FieldTable {
  fileprivate init(_ fields: [(String, String)], _ received: Int64) {
    self.init()
    for (name, value) in fields { set(name, to: Array(value.utf8)[...], received: received) }
  }
}
