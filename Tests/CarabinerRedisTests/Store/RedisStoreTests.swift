import Carabiner
import CarabinerRedis
import CarabinerWire
import FoundationEssentials
import Logging
import Synchronization
import TestTools
import Testing

/// The normalised store in a real redis-server.
@Suite("The store in Redis")
struct RedisStoreTests {
  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  private let query =
    "query($x: Int) { hero(x: $x) { __typename id name friends { __typename id name ... on Droid { mass } } } n }"
  private let data = #"""
    {"hero":{"__typename":"H","id":1,"name":"a\"b","friends":[{"__typename":"H","id":2,"name":"ü"},null,{"__typename":"Droid","id":3,"name":null,"mass":1.5e3}]},"n":[[1],[]]}
    """#

  @Test("a response is read by another node, also by another query", .rule("redis.14"))
  func roundTrip() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await TestNode.ready(server), try await TestNode.ready(server))
    try await one.publish(data, for: query, ["x": 1])
    #expect(try await other.data(query, ["x": 1]) == json(data))
    #expect(try await other.data(query, ["x": 2]) == nil)
    #expect(try await other.data("{ hero(x: 1) { name } }") == json(#"{"hero":{"name":"a\"b"}}"#))
    #expect(try await other.data("{ hero(x: 1) { age } }") == nil)
  }

  @Test("no command of a store in use is HGETALL, KEYS or EVAL, and a level is one transaction", .rule("redis.14"))
  func commands() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    _ = try server.ask("CONFIG", "RESETSTAT")
    try await node.publish(data, for: query, ["x": 1])
    #expect(try await node.data(query, ["x": 1]) != nil)
    let counts = try server.ask("INFO", "commandstats").matches(of: /cmdstat_([a-z|]+):calls=(\d+)/).reduce(into: [String: Int]())
    {
      $0[String($1.1)] = Int($1.2)
    }
    #expect(counts["hgetall"] == nil && counts["keys"] == nil && counts["eval"] == nil, "\(counts)")
    // One to write; one for two root fields, none for a single object, one for its three friends.
    #expect(counts["exec"] == 3, "\(counts)")
    #expect(counts["hmget"] == 3 && counts["get", default: 0] >= 2, "\(counts)")
  }

  @Test("the second read of an operation needs one round, and one more for what has changed", .rule("redis.15"))
  func oneRound() async throws {
    let server = try await RedisServer()
    let (writer, reader) = (try await TestNode.ready(server), try await TestNode.ready(server))
    /// Reads the query, and compares its data and the number of rounds.
    func expect(_ variable: JSONValue, _ expected: JSONValue?, rounds: Int) async throws {
      let before = reader.cache.metrics.readCounts.reduce(0, +)
      #expect(try await reader.data(query, ["x": variable]) == expected)
      #expect(reader.cache.metrics.readCounts.reduce(0, +) - before == rounds)
    }
    try await writer.publish(data, for: query, ["x": 1])
    try await expect(1, json(data), rounds: 3)
    try await expect(1, json(data), rounds: 1)
    // Another list of friends, one of them new.
    let changed = #"{"hero":{"__typename":"H","id":1,"name":"a","friends":[{"__typename":"H","id":4,"name":"d"}]},"n":1}"#
    try await writer.publish(changed, for: query, ["x": 1])
    try await expect(1, json(changed), rounds: 2)
    try await expect(1, json(changed), rounds: 1)
    // A miss is remembered, too.
    try await expect(2, nil, rounds: 2)
    try await expect(2, nil, rounds: 1)
  }

  @Test("two nodes that write other fields of one record in turns keep all of them", .rule("redis.10"))
  func turns() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await TestNode.ready(server), try await TestNode.ready(server))
    for number in 0..<20 {
      let node = number.isMultiple(of: 2) ? one : other
      try await node.publish(
        #"{"hero":{"__typename":"H","id":1,"f\#(number)":\#(number)}}"#, for: "{ hero { __typename id f\(number) } }")
    }
    let names = (0..<20).map { "f\($0)" }
    let expected = names.indices.map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
    for node in [one, other] {
      #expect(try await node.data("{ hero { \(names.joined(separator: " ")) } }") == json(#"{"hero":{\#(expected)}}"#))
    }
  }

  @Test("the write that reaches Redis last wins, whatever its time of receipt", .rule("redis.10"))
  func lastWins() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    for (value, received) in [("1", StoreClock.now), ("2", StoreClock.now - 60_000)] {
      try await node.store.publish(records: RecordSet([Record(key: "H:1", fields: ["a": Data(value.utf8)], received: received)]))
    }
    await node.cache.drained()
    #expect(try await node.cache.records(for: [("H:1", ["a"])])[0]?["a"] == Array("2".utf8))
  }

  @Test("a record with more than 512 fields is removed before its next write", .rule("redis.6"))
  func manyFields() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    func write(_ names: [String]) async throws {
      let fields = Dictionary(uniqueKeysWithValues: names.map { ($0, Data("1".utf8)) })
      try await node.store.publish(records: RecordSet([Record(key: "H:1", fields: fields)]))
      await node.cache.drained()
    }
    try await write((0..<512).map { "f\($0)" })
    try await write(["g"])
    #expect(try server.ask("HLEN", "{crb:shop}:r:H:1") == "513")
    try await write(["h"])
    #expect(try server.ask("HLEN", "{crb:shop}:r:H:1") == "1")
  }

  @Test("each key lives as long as a value of its type may be valid, and each write renews it", .rule("redis.7"))
  func lives() async throws {
    let server = try await RedisServer()
    let policy = CacheKeyPolicy(
      maximumAges: ["H": 600, "H.name": 1200, "Droid.mass": 60, "Query.n": 300], defaultMaximumAge: nil)
    let node = try await TestNode.ready(server, policy: policy) { $0.timeToLive = .seconds(3600) }
    for _ in 0..<2 {
      try await node.publish(data, for: query, ["x": 1])
      for (key, seconds) in [
        ("r:H:1", 1200), ("r:H:2", 1200), ("r:Droid:3", 3600), ("f:QUERY_ROOT|n", 300), ("f:QUERY_ROOT|hero(x:1)", 3600),
      ] {
        let life = Int(try server.ask("TTL", "{crb:shop}:" + key)) ?? 0
        #expect((seconds - 60...seconds).contains(life), "\(key): \(life)")
        _ = try server.ask("EXPIRE", "{crb:shop}:" + key, "10")
      }
    }
    for key in try server.keys() { #expect(try server.ask("TTL", key) != "-1", "\(key)") }
  }

  @Test("a value that is too old is a miss, although its key lives", .rule("redis.7"))
  func tooOld() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server, policy: CacheKeyPolicy(maximumAges: ["Query.n": 60]))
    for (age, isThere) in [(Int64(30_000), true), (90_000, false)] {
      let record = Record(key: "QUERY_ROOT", fields: ["n": Data("1".utf8)], received: StoreClock.now - age)
      try await node.store.publish(records: RecordSet([record]))
      await node.cache.drained()
      #expect(try await node.data("{ n }") == (isThere ? ["n": 1] : nil))
    }
  }

  @Test("with full memory and noeviction writes pause, and reads go on", .rule("redis.7"))
  func fullMemory() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server) { $0.pauseTime = .seconds(3600) }
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    _ = try server.ask("CONFIG", "SET", "maxmemory", "1")
    try await node.publish(#"{"n":2}"#, for: "{ n }")
    #expect(node.log.has(.warning, "Redis has no memory left"), "\(node.log.lines)")
    _ = try server.ask("CONFIG", "SET", "maxmemory", "0")
    // The pause is over by time only.
    try await node.publish(#"{"n":3}"#, for: "{ n }")
    #expect(try await node.data("{ n }") == ["n": 1])
  }

  @Test("two nodes with clocks one hour apart agree on the age of a value", .rule("redis.8"))
  func clocks() async throws {
    let server = try await RedisServer()
    let hour: Int64 = 3_600_000
    let late = try await TestNode.ready(server) { $0.clock = { StoreClock.now + hour } }
    let right = try await TestNode.ready(server)
    let received = StoreClock.now - 5000
    try await late.store.publish(
      records: RecordSet([Record(key: "H:1", fields: ["a": Data("1".utf8)], received: received + hour)]))
    await late.cache.drained()
    let seen = try #require(try await right.cache.records(for: [("H:1", ["a"])])[0]?.received("a"))
    #expect(abs(seen - received) < 60_000, "\(seen - received) ms")
    let own = try #require(try await late.cache.records(for: [("H:1", ["a"])])[0]?.received("a"))
    #expect(abs(own - received - hour) < 60_000, "\(own - received - hour) ms")
  }

  @Test("a reader never finds a reference to a missing record while 2,000 records are written", .rule("redis.9"))
  func noDanglingReference() async throws {
    let server = try await RedisServer()
    let (writer, reader) = (try await TestNode.ready(server), try await TestNode.ready(server))
    let document = "{ list { __typename id next { __typename id a } } }"
    @Sendable func response(_ round: Int) -> String {
      let items = (0..<1000).map {
        let id = round * 1000 + $0
        return #"{"__typename":"H","id":\#(id),"next":{"__typename":"N","id":\#(id),"a":\#(round)}}"#
      }
      return #"{"list":[\#(items.joined(separator: ","))]}"#
    }
    try await writer.publish(response(0), for: document)
    let isOver = Flag()
    try await withThrowingTaskGroup { group in
      group.addTask {
        for round in 1...3 { try await writer.publish(response(round), for: document) }
        isOver.value.store(true, ordering: .relaxed)
      }
      var reads = 0
      while !isOver.value.load(ordering: .relaxed) || reads == 0 {
        #expect(try await reader.data(document) != nil)
        reads += 1
      }
      try await group.waitForAll()
    }
    #expect(try await reader.data(document) == json(response(3)))
  }

  @Test("a store of a newer version is neither read nor written, and the log says why", .rule("redis.5"))
  func newerVersion() async throws {
    let server = try await RedisServer()
    _ = try server.ask("SET", "{crb:shop}:v", "2")
    let node = try TestNode(server.url)
    #expect(await eventually { node.log.has(.error, "has version 2 and this program supports version 1") }, "\(node.log.lines)")
    #expect(node.log.has(.error, "[newerVersion]"))
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(try await node.data("{ n }") == nil)
    #expect(try server.keys() == ["{crb:shop}:v"])
  }

  @Test("removals of a record, of a root, by pattern and of all are waited for", .rule("redis.11"))
  func removals() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    try await node.publish(data, for: query, ["x": 1])
    #expect(try await node.cache.keys(matching: nil).sorted() == ["Droid:3", "H:1", "H:2", "QUERY_ROOT"])
    try await node.store.removeObject(for: "Droid:3")
    #expect(try await node.data(query, ["x": 1]) == nil)
    #expect(try await node.store.removeObjects(matching: "H:*") == 2)
    #expect(try server.keys() == ["{crb:shop}:f:QUERY_ROOT|hero(x:1)", "{crb:shop}:f:QUERY_ROOT|n", "{crb:shop}:v"])
    try await node.store.removeObject(for: "QUERY_ROOT")
    #expect(try server.keys() == ["{crb:shop}:v"])
    _ = try server.ask("SET", "foreign", "1")
    try await node.publish(data, for: query, ["x": 1])
    try await node.store.clearCache()
    #expect(try server.keys() == ["foreign", "{crb:shop}:v"])
  }

  @Test("a removal fails with unavailable while Redis is away, and a write does not", .rule("redis.11"))
  func removalWhileAway() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    server.end()
    #expect(await eventually { !node.cache.isAvailable })
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(try await node.data("{ n }") == nil)
    for removal in [
      { try await node.store.clearCache() }, { try await node.store.removeObject(for: "H:1") },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: StoreError.self) { try await removal() }
      #expect(error?.code == .unavailable)
    }
    try await server.restart()
    await node.isReady()
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(try await node.data("{ n }") == ["n": 1])
  }

  @Test("the newest writes are dropped when the queue is full, and nothing waits for it", .rule("redis.11"))
  func fullQueue() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server) {
      $0.writeQueueBytes = 10_000
      $0.connection.limits.exhaustedBudgets = 1000
    }
    try await server.stop()
    let text = String(repeating: "x", count: 3000)
    for number in 0..<10 {
      let record = Record(key: "QUERY_ROOT", fields: ["f\(number)": Data("\"\(text)\"".utf8)])
      try await node.store.publish(records: RecordSet([record]))
    }
    server.proceed()
    await node.cache.drained()
    #expect(try server.keys() == (0..<3).map { "{crb:shop}:f:QUERY_ROOT|f\($0)" } + ["{crb:shop}:v"])
  }

  @Test("while Redis is silent, an operation waits for its budget only, and then not at all", .rule("redis.18"))
  func silent() async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server) { $0.readBudget = .milliseconds(20) }
    try await server.stop()
    // Each is a miss. After five that Redis did not answer in time the circuit is open.
    var found: JSONValue?
    let isOpen = await eventually {
      found = try await node.data("{ a { b } }") ?? found
      return !node.cache.isAvailable
    }
    #expect(isOpen && found == nil)
    server.proceed()
    await node.isReady()
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(await eventually { try await node.data("{ n }") == ["n": 1] })
  }

  @Test(
    "a malformed value is a miss, and the next write replaces it",
    arguments: [
      "", "1", "123456789012", "1700000000000", "17000000000x01", "9999999999999\"a\"", "1700000000000{",
      "1700000000000{\"$ref\":3}",
    ])
  func malformed(value: String) async throws {
    let server = try await RedisServer()
    let node = try await TestNode.ready(server)
    let response = #"{"hero":{"__typename":"H","id":1,"a":"b"}}"#
    try await node.publish(response, for: "{ hero { __typename id a } }")
    _ = try server.ask("SET", "{crb:shop}:f:QUERY_ROOT|hero", value)
    #expect(try await node.data("{ hero { a } }") == nil)
    try await node.publish(response, for: "{ hero { __typename id a } }")
    #expect(try await node.data("{ hero { a } }") == json(#"{"hero":{"a":"b"}}"#))
  }
}
