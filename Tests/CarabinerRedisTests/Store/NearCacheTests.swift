import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@testable import CarabinerRedis

@Suite("The near cache")
struct NearCacheTests {
  private let near = NearCache(maximumRecords: 10, maximumAge: .seconds(5))
  private let now = ContinuousClock.now

  init() { near.use() }

  private func record(_ key: String, _ fields: [String: String]) -> Record {
    Record(key: key, fields: fields.mapValues { Data($0.utf8) }, received: 1)
  }

  private func put(_ key: String, _ fields: [String: String], absent: [String] = [], ticket: UInt64) {
    near.put(record(key, fields).table, absent: absent, of: key, ticket: ticket, now: now)
  }

  /// The fields that must be asked for.
  private func missing(_ key: String, _ fields: [String], after time: Duration = .zero) -> [String] {
    near.answers(to: [(key, fields)], now: now + time)[0].missing
  }

  private func value(_ key: String, _ field: String) -> String? {
    near.answers(to: [(key, [field])], now: now)[0].record?[field].map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("fields that were read count for the maximum age, also those that do not exist", .rule("redis.16"))
  func reading() {
    put("H:1", ["a": "1"], absent: ["b"], ticket: near.ticket)
    #expect(missing("H:1", ["a", "b", "c"]) == ["c"])
    #expect(missing("H:1", ["a", "b"], after: .milliseconds(4999)) == [])
    #expect(missing("H:1", ["a", "b"], after: .seconds(5)) == ["a", "b"])
    put("H:1", ["c": "3"], ticket: near.ticket)
    #expect(missing("H:1", ["a", "b", "c"]) == [])
  }

  @Test("a write returns what differs, and all fields that are not known", .rule("redis.10"))
  func writing() {
    func changed(_ fields: [String: String]) -> [String] {
      near.write([record("H:1", fields)], now: now).entries.flatMap(\.fields).sorted()
    }
    #expect(changed(["a": "1", "b": "2"]) == ["a", "b"])
    #expect(changed(["a": "1", "b": "3", "c": "4"]) == ["b", "c"])
    #expect(changed(["a": "1"]) == [])
    #expect(value("H:1", "b") == "3")
  }

  @Test("a value that was read before an own write arrived is dropped when it arrives", .rule("redis.10", "redis.16"))
  func readBeforeArrival() {
    near.use()
    _ = near.write([record("H:1", ["a": "2"])], now: now)
    near.drop([], of: "H:1")
    put("H:1", ["a": "1"], ticket: near.ticket)
    near.noteWritten([record("H:1", ["a": "2"])])
    #expect(value("H:1", "a") == nil)
    _ = near.write([record("H:1", ["a": "3"])], now: now)
    near.noteWritten([record("H:1", ["a": "3"])])
    #expect(value("H:1", "a") == "3")
  }

  @Test("a message about thousands of fields of a large record drops the record")
  func manyRemovals() {
    near.use()
    let names = (0..<5000).map { "f\($0)" }
    _ = near.write([record("H:1", Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }))], now: now)
    near.drop(Array(names.prefix(4000)), of: "H:1")
    #expect(value("H:1", "f4999") == nil)
  }

  @Test("an answer that was asked for before a change of its record is not put in", .rule("redis.16"))
  func race() {
    let changes: [(String, (NearCache) -> Void)] = [
      ("a field of another node", { $0.drop(["a"], of: "H:1") }), ("a removal", { $0.drop([], of: "H:1") }),
      ("an own write", { _ = $0.write([record("H:1", ["a": "2"])], now: now) }),
      ("a write that has arrived", { $0.noteWritten([record("H:1", ["a": "2"])]) }),
      ("anything", { $0.removeAll() }),
      (
        "a lost subscription",
        { near in
          near.stop()
          near.use()
        }
      ),
    ]
    for (name, change) in changes {
      near.use()
      let ticket = near.ticket
      change(near)
      put("H:1", ["a": "1"], ticket: ticket)
      #expect(value("H:1", "a") != "1", "\(name)")
      put("H:1", ["a": "1"], ticket: near.ticket)
      #expect(value("H:1", "a") == "1", "\(name)")
    }
    let ticket = near.ticket
    near.drop([], of: "H:2")
    put("H:1", ["b": "1"], ticket: ticket)
    #expect(value("H:1", "b") == "1", "a change of another record does not count")
    for number in 0..<20_000 { near.drop([], of: "H:\(number + 3)") }
    put("H:1", ["c": "1"], ticket: ticket)
    #expect(value("H:1", "c") == nil, "after very many changes, old answers do not count at all")
  }

  @Test("a message drops the changed fields only", .rule("redis.17"))
  func dropping() {
    put("H:1", ["a": "1", "b": "2"], absent: ["c", "d"], ticket: near.ticket)
    near.drop(["a", "c"], of: "H:1")
    #expect(missing("H:1", ["a", "b", "c", "d"]) == ["a", "c"])
    near.drop([], of: "H:1")
    #expect(missing("H:1", ["a", "b", "c", "d"]) == ["a", "b", "c", "d"])
  }

  @Test("without a subscription nothing is kept, and a write changes all of its fields", .rule("redis.17"))
  func unused() {
    put("H:1", ["a": "1"], ticket: near.ticket)
    near.stop()
    #expect(missing("H:1", ["a"]) == ["a"])
    put("H:1", ["a": "1"], ticket: near.ticket)
    for _ in 0..<2 { #expect(near.write([record("H:1", ["a": "1"])], now: now).fieldCount == 1) }
    #expect(missing("H:1", ["a"]) == ["a"])
  }

  @Test("at most the given number of records is kept, the recently used ones", .rule("redis.16"))
  func limit() {
    for number in 0..<100 {
      put("H:\(number)", ["a": "1"], ticket: near.ticket)
      #expect(value("H:0", "a") == "1")
    }
    let kept = (0..<100).filter { value("H:\($0)", "a") != nil }
    #expect(kept.count <= 10 && kept.contains(0) && kept.contains(99), "\(kept)")
    let none = NearCache(maximumRecords: 0, maximumAge: .seconds(5))
    none.use()
    none.put(record("H:1", ["a": "1"]).table, absent: [], of: "H:1", ticket: none.ticket)
    #expect(none.answers(to: [("H:1", ["a"])])[0].missing == ["a"])
  }

  @Test("neither many records nor long ones take more memory than the limit")
  func bytes() {
    let near = NearCache(maximumRecords: 100_000, maximumBytes: 1 << 20, maximumAge: .seconds(60))
    near.use()
    for number in 0..<3000 {
      let record = Record(key: "R:\(number)", fields: ["text": Data(repeating: 0x31, count: 5000)])
      _ = near.write([record])
      _ = near.answers(to: [(key: "R:\(number / 2)", fields: ["text"])])
    }
    _ = near.write([Record(key: "R:large", fields: ["text": Data(repeating: 0x31, count: 900_000)])])
    #expect(near.size.records > 50)
    #expect(near.size.bytes <= 1 << 20)
    #expect(near.answers(to: [(key: "R:2999", fields: ["text"])]).first?.record != nil)
  }

  @Test("names that a record does not have are not kept without limit")
  func absentNames() {
    let near = NearCache(maximumRecords: 100, maximumAge: .seconds(60))
    near.use()
    for number in 0..<2000 {
      near.put(FieldTable(), absent: ["f(\(number))"], of: "QUERY_ROOT", ticket: near.ticket)
    }
    #expect(near.size.bytes < 100_000)
  }

  @Test("the lists of records that operations read take at most 16 MiB", .rule("redis.15"))
  func readMemory() {
    let memory = ReadMemory()
    func list(_ count: Int) -> ReadMemory.List {
      var list = ReadMemory.List()
      for number in 0..<count { list.add(ReadMemory.Item(key: "Record:\(number)", fields: ["some", "fields"])) }
      return list
    }
    let (long, short) = (list(1000), list(900))
    for operation in 0..<1000 {
      memory.set(long, of: operation)
      memory.set(short, of: operation)
    }
    #expect(memory.bytes <= ReadMemory.maximumBytes)
    #expect(memory.items(of: 999).count == 900)
    memory.set(list(3000), of: 999)
    #expect(memory.items(of: 999).isEmpty)
  }
}
