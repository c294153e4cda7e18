import CarabinerEtcd
import Foundation
import TestTools
import Testing

/// The answers of etcd 3.4.23, byte by byte. A name ends with `.jsonl` if the answer is a stream.
@Suite("Recorded answers of etcd 3.4")
struct RecordedAnswerTests {
  private static let folder = Repository.root.appending(path: "Tests/CarabinerEtcdTests/Messages/Recorded")

  private func recorded(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: Self.folder.appending(path: name)))
  }

  private func lines(_ name: String) throws -> [EtcdWatchLine] {
    var lines = EtcdLines()
    lines.add(try recorded(name))
    var found: [EtcdWatchLine] = []
    while let line = try lines.next() { found.append(try EtcdWatchLine(line)) }
    if !lines.rest.isEmpty { found.append(try EtcdWatchLine(lines.rest)) }
    return found
  }

  private let stable = EtcdValue(key: "p/stable", value: Array("carabiner: 1".utf8), changed: 2, created: 2, version: 1)
  private let empty = EtcdValue(key: "p/empty", value: [], changed: 2, created: 2, version: 1)

  @Test("reads", .rule("fleet.2"))
  func reads() throws {
    #expect(try EtcdRange(recorded("range-empty.json")).values.isEmpty)
    let range = try EtcdRange(recorded("range.json"))
    #expect(range.revision == 2 && range.values == [empty, stable] && !range.hasMore)
    #expect(try EtcdRange(recorded("range-more.json")).hasMore)
    #expect(try EtcdRange(recorded("range-lease.json")).values.first?.lease == 7_213_537_458_215_838_475)
  }

  @Test("transactions", .rule("fleet.2"))
  func transactions() throws {
    #expect(try EtcdTransaction(recorded("transaction-put.json")).hasSucceeded)
    #expect(try EtcdTransaction(recorded("transaction-lease.json")).revision == 3)
    #expect(try EtcdTransaction(recorded("transaction-deleted.json")).hasSucceeded)
    let failed = try EtcdTransaction(recorded("transaction-failed.json"))
    #expect(!failed.hasSucceeded && failed.found == [stable])
    let ranges = try EtcdTransaction(recorded("transaction-ranges.json")).ranges
    #expect(ranges.map(\.values.count) == [2, 0])
  }

  @Test("leases", .rule("fleet.2"))
  func leases() throws {
    #expect(try EtcdLease(recorded("lease-granted.json")).seconds == 15)
    #expect(try EtcdLease(recorded("lease-renewed.json")).id == 7_213_537_458_215_838_475)
    #expect(try EtcdLease(recorded("lease-gone.json")).seconds == 0)
  }

  @Test("watches", .rule("fleet.4"))
  func watches() throws {
    let watch = try lines("watch.jsonl")
    #expect(watch.map(\.isCreated) == [true, true, false])
    #expect(watch.last?.events.count == 6)
    #expect(watch.last?.events.contains(.delete("p/stable")) == true)
    #expect(watch.last?.events.contains(.put(stable)) == true)
    #expect(try lines("watch-compacted.jsonl").map(\.failure?.code) == [nil, .compacted])
    #expect(try lines("watch-denied.jsonl").map(\.failure?.code) == [.denied])
    #expect(try lines("watch-token.jsonl").map(\.failure?.code) == [.unauthenticated])
    let error = #expect(throws: EtcdError.self) { try lines("watch-no-leader.jsonl") }
    #expect(error?.code == .unavailable)
  }

  @Test(
    "errors", .rule("fleet.2", "fleet.3"),
    arguments: [
      ("base64", EtcdError.Code.refused), ("compacted", .compacted), ("denied", .denied), ("login", .unauthenticated),
      ("no-auth", .unauthenticated), ("no-leader", .unavailable), ("no-login", .unauthenticated), ("timeout", .unavailable),
      ("token", .unauthenticated),
    ])
  func errors(name: String, code: EtcdError.Code) throws {
    let answer = try recorded("error-\(name).json")
    let error = #expect(throws: EtcdError.self) { try EtcdRange(answer) }
    #expect(error?.code == code)
    // The failure and the next step.
    #expect(error?.message.contains(";") == true)
  }

  @Test("an answer that is cut off or changed anywhere is read or refused, and nothing else")
  func changed() throws {
    var generator = SeededGenerator(seed: 19)
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
    #expect(names.count > 20)
    for name in names {
      let answer = try recorded(name)
      for round in 0..<300 {
        var bytes = answer
        if round % 3 == 0 {
          bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
        } else {
          for _ in 0...round % 5 {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
          }
        }
        _ = try? EtcdRange(bytes)
        _ = try? EtcdTransaction(bytes)
        _ = try? EtcdLease(bytes)
        var lines = EtcdLines()
        lines.add(bytes)
        while let line = try? lines.next() { _ = try? EtcdWatchLine(line) }
      }
    }
  }
}
