import Carabiner
import CarabinerRESP
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// Messages about changes between nodes.
@Suite("Invalidations between nodes")
struct InvalidationTests {
  private static let node: [UInt8] = Array(1...8)

  @Test("a message is a version byte, the node, and the fields of each record", .rule("redis.17"))
  func bytes() {
    let message = Invalidation(
      node: Self.node, entries: [.init(key: "H:1", fields: ["a", "b(x:1)"]), .init(key: "ü", fields: [])])
    #expect(message.bytes == [1] + Self.node + Array("H:1\0a\0b(x:1)\nü\n".utf8))
    #expect(Invalidation(message.bytes[...]) == message)
    let all = Invalidation(node: Self.node, entries: nil)
    #expect(all.bytes == [1] + Self.node + [0x2A])
    #expect(Invalidation(all.bytes[...]) == all)
  }

  @Test("above 256 KiB, or with a separator in a name, a message says that anything may have changed", .rule("redis.17"))
  func all() {
    let long = (0..<5000).map { Invalidation.Entry(key: "H:\($0)" + String(repeating: "x", count: 60), fields: ["a"]) }
    for entries in [long, [.init(key: "a\nb", fields: ["c"])], [.init(key: "a", fields: ["b\0c"])]] {
      #expect(Invalidation(node: Self.node, entries: entries).bytes == [1] + Self.node + [0x2A])
    }
  }

  @Test(
    "a message that is malformed, or of another version, says that anything may have changed", .rule("redis.17"),
    arguments: ["", "\u{1}", "\u{1}1234567", "\u{2}12345678H:1\0a\n", "\u{1}12345678H:1\0a"])
  func malformed(text: String) { #expect(Invalidation(Array(text.utf8)[...]).change == .cleared) }

  @Test("watchers are notified of the fields, or of everything if a record was removed", .rule("redis.17"))
  func change() {
    #expect(Invalidation(node: [], entries: [.init(key: "H:1", fields: ["a", "b"])]).change == .keys(["H:1.a", "H:1.b"]))
    #expect(Invalidation(node: [], entries: [.init(key: "H:1", fields: [])]).change == .cleared)
  }

  @Test(
    "changes that arrive while watchers are notified are joined into one of bounded size", .rule("redis.17"),
    arguments: [100, 200_000])
  func joined(count: Int) async {
    let receiver = InvalidationReceiver(
      NearCache(maximumRecords: 1, maximumAge: .seconds(1)), StoreCounters(), node: Self.node)
    let (changes, gate) = (Changes(), Gate())
    receiver.add { change in
      gate.wait()
      changes.add(change)
    }
    gate.closed { for number in 0..<count { receiver.notify(.keys(["H:\(number).a"])) } }
    // Some of the changes may be on their way before the others.
    #expect(await eventually { changes.all.contains { $0.affects(["H:\(count - 1).a"]) } })
    #expect(changes.all.count <= 2)
    #expect(changes.all.allSatisfy { $0 != .cleared } == (count <= InvalidationReceiver.maximumPendingFields))
    let all = changes.all
    #expect((0..<count).allSatisfy { number in all.contains { $0.affects(["H:\(number).a"]) } })
  }

  /// Holds up observers while it is closed.
  private final class Gate: Sendable {
    private let lock = Mutex(())
    func wait() { lock.withLock { _ in } }
    func closed(_ work: () -> Void) { lock.withLock { _ in work() } }
  }

  // MARK: Two nodes

  private final class Changes: Sendable {
    private let list = Mutex<[StoreChange]>([])
    var all: [StoreChange] { list.withLock { $0 } }
    func add(_ change: StoreChange) { list.withLock { $0.append(change) } }
  }

  private func near(_ server: RedisServer, maximumAge: Duration = .seconds(3600)) async throws -> TestNode {
    let node = try await TestNode.ready(server) { ($0.nearRecords, $0.nearMaximumAge) = (1000, maximumAge) }
    #expect(await eventually { node.cache.usesNearRecords }, "\(node.log.lines)")
    return node
  }

  @Test("a record that was read or written is not asked for again, until it is too old", .rule("redis.16"))
  func near() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await near(server), try await near(server, maximumAge: .milliseconds(1)))
    try await one.publish(#"{"n":1}"#, for: "{ n }")
    #expect(try await other.data("{ n }") == ["n": 1])
    _ = try server.ask("DEL", "{crb:shop}:f:QUERY_ROOT|n")
    #expect(try await one.data("{ n }") == ["n": 1])
    #expect(await eventually { try await other.data("{ n }") == nil })
  }

  @Test("a change on one node wakes a watcher on another, which reads the new value", .rule("redis.17"))
  func watcher() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await near(server), try await near(server))
    let changes = Changes()
    let subscription = other.store.subscribe { _, change in changes.add(change) }
    try await one.publish(#"{"n":1,"m":1}"#, for: "{ n m }")
    #expect(await eventually { changes.all == [.keys(["QUERY_ROOT.m", "QUERY_ROOT.n"])] }, "\(changes.all)")
    #expect(try await other.data("{ n m }") == ["n": 1, "m": 1])
    try await one.publish(#"{"n":2,"m":1}"#, for: "{ n m }")
    #expect(await eventually { changes.all.dropFirst() == [.keys(["QUERY_ROOT.n"])] }, "\(changes.all)")
    #expect(try await other.data("{ n m }") == ["n": 2, "m": 1])
    // New times of receipt do not count as a change.
    try await one.publish(#"{"n":2,"m":1}"#, for: "{ n m }")
    try await one.publish(#"{"n":3,"m":1}"#, for: "{ n m }")
    #expect(await eventually { changes.all.count == 3 }, "\(changes.all)")
    try await one.store.removeObject(for: "QUERY_ROOT")
    #expect(await eventually { changes.all.last == .cleared })
    #expect(try await other.data("{ n m }") == nil)
    subscription.cancel()
  }

  @Test("an answer that Redis held back is not used after a newer write of the same node", .rule("redis.16"))
  func heldBack() async throws {
    let server = try await RedisServer()
    let writer = try await TestNode.ready(server)
    let node = try await near(server)
    try await writer.publish(#"{"n":1}"#, for: "{ n }")
    try await server.stop()
    async let old = node.data("{ n }")
    #expect(await eventually { node.cache.waitingCommands > 0 })
    let body = try ResponseBody(Data(#"{"data":{"n":2}}"#.utf8))
    let records = ApolloStore.records(of: body, operation: DynamicOperation(document: "{ n }", variables: [:]))
    try await node.store.publish(records: try #require(records))
    server.proceed()
    #expect(try await old == ["n": 1])
    #expect(try await node.data("{ n }") == ["n": 2])
    await node.cache.drained()
    #expect(try await node.data("{ n }") == ["n": 2])
  }

  @Test("a read that waits for Redis delays neither a read of a record in memory nor a write", .rule("redis.12"))
  func withoutLock() async throws {
    let server = try await RedisServer()
    let node = try await near(server)
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    try await server.stop()
    async let slow = node.data("{ m }")
    #expect(await eventually { node.cache.waitingCommands > 0 })
    #expect(try await node.data("{ n }") == ["n": 1])
    let record = Record(key: "QUERY_ROOT", fields: ["n": Data("2".utf8)])
    try await node.store.publish(records: RecordSet([record]))
    #expect(try await node.data("{ n }") == ["n": 2])
    #expect(node.cache.waitingCommands > 0)
    server.proceed()
    #expect(try await slow == nil)
  }

  @Test("a record that a person removes is not served from the memory of another node", .rule("redis.20"))
  func removedByHand() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await near(server), try await TestNode.ready(server))
    try await one.publish(#"{"a":{"__typename":"H","id":1,"b":2}}"#, for: "{ a { __typename id b } }")
    #expect(try await one.data("{ a { b } }") == ["a": ["b": 2]])
    #expect(try await other.cache.removeRecords(forKeys: ["H:1", "H:2"]) == 1)
    #expect(await eventually { try await one.data("{ a { b } }") == nil })
    #expect(try await other.cache.removeRecords(matching: "QUERY*") == 1)
    #expect(try await other.cache.statistics().recordCount == 0)
  }

  @Test("after the subscription was killed, no stale value is served, and watchers are notified", .rule("redis.17"))
  func killed() async throws {
    let server = try await RedisServer()
    let (one, other) = (try await near(server), try await near(server))
    try await one.publish(#"{"n":1}"#, for: "{ n }")
    #expect(await eventually { try await other.data("{ n }") == ["n": 1] })
    let changes = Changes()
    let subscription = other.store.subscribe { _, change in changes.add(change) }
    _ = try server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    #expect(await eventually { changes.all.contains(.cleared) })
    // Behind the back of all nodes, as if the message had been lost.
    _ = try server.ask("SET", "{crb:shop}:f:QUERY_ROOT|n", "17000000000002")
    #expect(await eventually { try await other.data("{ n }") == ["n": 2] })
    #expect(await eventually { other.cache.usesNearRecords })
    subscription.cancel()
  }

  @Test("the least permissions of the guide suffice", .rule("redis.3"))
  func permissions() async throws {
    let server = try await RedisServer()
    let page = Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/RedisStore.md")
    let text = try String(contentsOfFile: page.path, encoding: .utf8)
    let rules = try #require(text.firstMatch(of: /```\n(~\{crb:shop\}[^`]*)```/)).1.split(whereSeparator: \.isWhitespace).map(
      String.init)
    let set = try await ToolRun(
      .init(filePath: "/usr/bin/redis-cli"), ["-p", "\(server.port)", "ACL", "SETUSER", "carabiner", "on", ">pw"] + rules)
    #expect(set.output.contains("OK"), "\(set.output)")
    _ = try server.ask("ACL", "SETUSER", "default", "nopass", "+@all")
    let node = try await TestNode.ready(server) {
      ($0.connection.user, $0.connection.password) = ("carabiner", "pw")
      $0.nearRecords = 10
    }
    #expect(await eventually { node.cache.usesNearRecords }, "\(node.log.lines)")
    try await node.publish(#"{"a":{"__typename":"H","id":1,"b":2}}"#, for: "{ a { __typename id b } }")
    #expect(try server.ask("HLEN", "{crb:shop}:r:H:1") == "3")
    let reader = try await TestNode.ready(server) { ($0.connection.user, $0.connection.password) = ("carabiner", "pw") }
    #expect(try await reader.data("{ a { b } }") == ["a": ["b": 2]])
    #expect(
      try await node.store.update(DynamicOperation(document: "{ a { b } }", variables: [:])) { $0 = ["a": ["b": 3]] })
    #expect(try await reader.data("{ a { b } }") == ["a": ["b": 3]])
    try await node.store.removeObject(for: "H:1")
    #expect(try server.ask("EXISTS", "{crb:shop}:r:H:1") == "0")
  }
}
