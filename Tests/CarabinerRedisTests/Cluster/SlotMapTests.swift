import CarabinerRESP
import TestTools
import Testing

@testable import CarabinerRedis

/// Slots, the answer of `CLUSTER SLOTS`, and redirects, which all come from outside.
@Suite("The slots of a cluster")
struct SlotMapTests {
  private let server: RedisURL

  init() throws { server = try RedisURL("rediss://seed.internal:7000") }

  @Test(
    "the slot of a key is that of the part in its first braces", .rule("redis.19"),
    arguments: [
      ("123456789", 0x31C3), ("", 0), ("foo", 12182), ("{foo}:r:x{y}", 12182), ("a{foo}", 12182), ("{user1000}.following", 3443),
      ("foo{}", 5542), ("{foo", 13308), ("foo{{bar}}", 4015),
    ])
  func slots(key: String, number: Int) { #expect(HashSlot(key: key).number == number) }

  private func reply(_ text: String) throws -> Reply {
    var reader = ReplyReader()
    reader.append(Array(text.replacing("\n", with: "\r\n").utf8))
    return try #require(try reader.next())
  }

  /// The answer of `CLUSTER SLOTS` for ranges with the host and port of the master.
  private func answer(_ ranges: [(first: Int, last: Int, host: String, port: String)]) throws -> Reply {
    let entries = ranges.map {
      let host = $0.host == "nil" ? "$-1\n" : "$\($0.host.utf8.count)\n\($0.host)\n"
      return "*3\n:\($0.first)\n:\($0.last)\n*3\n\(host):\($0.port)\n$2\nid\n"
    }
    return try reply("*\(ranges.count)\n" + entries.joined())
  }

  @Test("each slot has the master of its range, with the scheme of the settings", .rule("redis.19"))
  func map() throws {
    let map = try SlotMap(
      answer([(0, 99, "10.0.0.1", "7001"), (100, 100, "nil", "7002"), (200, 300, "?", "7003"), (301, 16383, "10.0.0.1", "7001")]),
      from: server, maximumNodes: 3)
    let expected = ["rediss://10.0.0.1:7001", "rediss://seed.internal:7002", "rediss://seed.internal:7003"]
    #expect(map.nodes.map(\.description) == expected)
    for (slot, node) in [(0, 0), (99, 0), (100, 1), (101, nil), (199, nil), (200, 2), (301, 0), (16383, 0)] as [(Int, Int?)] {
      #expect(map[try #require(HashSlot(slot))]?.description == node.map { expected[$0] }, "\(slot)")
    }
    #expect(SlotMap()[HashSlot(key: "a")] == nil)
  }

  @Test(
    "a malformed answer, or one with too many masters, is not used", .rule("redis.19"),
    arguments: [
      [(-1, 5, "a", "1")], [(0, 16384, "a", "1")], [(5, 4, "a", "1")], [(0, 1, "a", "0")], [(0, 1, "a", "65536")],
      [(0, 1, "a b", "1")], [(0, 1, "a@b", "1")], [(0, 1, "a/b", "1")], [(0, 1, String(repeating: "a", count: 256), "1")],
      [(0, 1, "a", "1"), (2, 3, "b", "1"), (4, 5, "c", "1"), (6, 7, "d", "1")],
    ])
  func malformed(ranges: [(Int, Int, String, String)]) throws {
    let reply = try answer(ranges)
    #expect(throws: SlotMap.Fault.self) { try SlotMap(reply, from: server, maximumNodes: 3) }
  }

  @Test(
    "another answer than a list of ranges is not used", .rule("redis.19"),
    arguments: [
      "+OK\n", "$-1\n", "*1\n:1\n", "*1\n*2\n:0\n:1\n", "*1\n*3\n:0\n:1\n*1\n$1\na\n", "*1\n*3\n:0\n$1\n5\n*2\n$1\na\n:1\n",
    ])
  func otherAnswers(text: String) throws {
    let reply = try reply(text)
    #expect(throws: SlotMap.Fault.self) { try SlotMap(reply, from: server, maximumNodes: 3) }
  }

  @Test(
    "MOVED and ASK name a slot and a node", .rule("redis.19"),
    arguments: [
      ("MOVED 5 10.0.0.2:7001", "rediss://10.0.0.2:7001"), ("ASK 5 10.0.0.2:7001", "rediss://10.0.0.2:7001"),
      ("MOVED 5 :7001", "rediss://seed.internal:7001"), ("MOVED 5 ?:7001", "rediss://seed.internal:7001"),
      ("MOVED 5 ::1:7001", "rediss://[::1]:7001"), ("ASK 5 redis-1.internal:1", "rediss://redis-1.internal:1"),
    ])
  func redirects(text: String, node: String) throws {
    let redirect = try #require(Redirect(try reply("-\(text)\n"), from: server))
    #expect(redirect.node.description == node && redirect.slot.number == 5 && redirect.isOnce == text.hasPrefix("ASK"))
  }

  @Test(
    "a malformed redirect is not followed", .rule("redis.19"),
    arguments: [
      "MOVED", "MOVED 5", "MOVED 5 a", "MOVED 5 a:", "MOVED 5 a:0", "MOVED 5 a:65536", "MOVED 5 a:1 b", "MOVED  5 a:1",
      "MOVED -1 a:1", "MOVED 16384 a:1", "MOVED x a:1", "MOVED 5 a b:1", "MOVED 5 user@a:1", "MOVED 5 a/b:1", "moved 5 a:1",
      "MOVED 99999999999999999999 a:1", "MOVED 5 a:99999999999999999999", "MOVED 5 \(String(repeating: "a", count: 400)):1",
      "ERR MOVED 5 a:1",
    ])
  func malformedRedirects(text: String) throws {
    #expect(Redirect(try reply("-\(text)\n"), from: server) == nil)
    #expect(Redirect(try reply("+\(text)\n"), from: server) == nil)
  }
}
