import CarabinerRESP
import Logging
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// Servers that claim to be a cluster and send nonsense.
@Suite("Hostile servers in place of a cluster")
struct HostileClusterTests {
  /// The port of a server, which its script needs before it is known.
  private final class Port: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }

    func set(_ port: Int) { number.store(port, ordering: .relaxed) }
  }

  /// All slots, at a node whose port follows. Its host is left out, so it is that of the connection.
  private static let everything = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n"

  /// A server that accepts every login, has all slots by its own words, and answers all other commands by a function of their number.
  private func server(
    slots: String? = nil, _ answer: @escaping @Sendable (_ number: Int, _ port: Int) -> String = { _, _ in "+OK\r\n" }
  ) throws -> ScriptedServer {
    let port = Port()
    let server = try ScriptedServer(isOpen: false) { peer in
      var count = 0
      while let bytes = peer.receive() {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("HELLO") {
          try peer.send("%1\r\n$5\r\nproto\r\n:3\r\n")
        } else if text.contains("PING") {
          try peer.send("+PONG\r\n")
        } else if text.contains("CLUSTER") {
          try peer.send(slots ?? Self.everything + ":\(port.value)\r\n")
        } else {
          count += 1
          try peer.send(answer(count, port.value))
        }
      }
    }
    port.set(server.port)
    try server.open()
    return server
  }

  private func client(_ server: ScriptedServer) throws -> TestClient {
    try TestClient("redis://127.0.0.1:\(server.port)") { $0.isCluster = true }
  }

  @Test("redirects to ever other nodes open few connections, and each command is redirected once", .rule("redis.19"))
  func manyNodes() async throws {
    // Nothing accepts connections there.
    let server = try server { number, _ in "-\(number.isMultiple(of: 2) ? "MOVED" : "ASK") 0 127.0.0.\(number % 250 + 2):1\r\n" }
    let test = try client(server)
    await test.opened()
    for _ in 0..<200 {
      let answer = await test.ask("GET", "k")
      #expect(["MOVED", "ASK", "unavailable", "connectionLost"].contains(answer), "\(answer)")
    }
    let cluster = try #require(test.client.cluster)
    #expect(cluster.nodeCount <= 1 + RedisLimits().strangers)
    #expect(test.client.waitingCommands == 0)
  }

  @Test("a server that lags behind decides the slots only until a node has redirected", .rule("redis.19"))
  func outdated() async throws {
    let cluster = try await ClusterServers()
    let owner = try cluster.owner(of: HashSlot(key: "a").number)
    // It names another node for all slots, as before they were moved.
    let former = cluster.nodes[(owner + 1) % 3]
    let seed = try server(slots: Self.everything + ":\(former.port)\r\n")
    let test = try client(seed)
    await test.opened()
    func redirects() throws -> Int {
      let text = try former.ask("INFO", "errorstats")
      return text.firstMatch(of: /errorstat_MOVED:count=([0-9]+)/).flatMap { Int($0.1) } ?? 0
    }
    func questions() throws -> Int {
      let text = try cluster.nodes[owner].ask("INFO", "commandstats")
      return text.firstMatch(of: /cmdstat_cluster\|slots:calls=([0-9]+)/).flatMap { Int($0.1) } ?? 0
    }
    func isWritten() async -> Bool {
      var commands = CommandBatch()
      commands.add(["SET", "a", "1"])
      return await test.ask(commands, to: HashSlot(key: "a")) == "OK"
    }
    // The first commands open the connection to the right node, and find the slots.
    let isKnown = await eventually {
      let before = try redirects()
      for _ in 0..<10 where await !isWritten() { return false }
      return try redirects() == before
    }
    #expect(isKnown, "\(test.log.lines)")
    // The server of the settings is asked again after a connection was lost, and is not believed.
    for _ in 0..<3 {
      let asked = try questions()
      test.client.cluster?.askForSlots()
      #expect(await eventually { try questions() > asked })
      let before = try redirects()
      #expect(await isWritten())
      #expect(try redirects() == before)
    }
  }

  @Test("a node that redirects to itself gets a command twice and no more", .rule("redis.19"))
  func itself() async throws {
    let server = try server { _, port in "-MOVED 0 :\(port)\r\n" }
    let test = try client(server)
    await test.opened()
    #expect(await test.ask("GET", "k") == "MOVED")
    #expect(test.client.counters.commands["error"] == 2)
  }

  @Test(
    "a malformed redirect, or one for another slot, is an error and not followed", .rule("redis.19"),
    arguments: ["MOVED", "MOVED x y", "MOVED 0 a b:1", "MOVED 99999 127.0.0.1:1", "ASK 1 127.0.0.1:1", "MOVED 0 127.0.0.1:0"])
  func malformed(error: String) async throws {
    let server = try server { _, _ in "-\(error)\r\n" }
    let test = try client(server)
    await test.opened()
    #expect(await test.ask("GET", "k") == error.prefix { $0 != " " })
    #expect(test.client.cluster?.nodeCount == 1)
  }

  @Test(
    "slots that are malformed, or of too many nodes, are not used, and the log says why", .rule("redis.19"),
    arguments: [
      ("*0\r\n", "no node has a slot"), ("+OK\r\n", "it is not a list"), ("*1\r\n:1\r\n", "a range of slots is malformed"),
      ("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n", "a range of slots is malformed"),
      ("*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na/b\r\n:1\r\n", "the address of a node is malformed"),
      (
        "*200\r\n" + (0..<200).map { "*3\r\n:\($0)\r\n:\($0)\r\n*2\r\n$1\r\na\r\n:\($0 + 1)\r\n" }.joined(),
        "there are more than 128 masters"
      ), ("-CLUSTERDOWN no\r\n", "refused CLUSTER SLOTS (CLUSTERDOWN no)"),
    ])
  func slots(answer: String, log: String) async throws {
    let server = try server(slots: answer)
    let test = try client(server)
    #expect(await eventually { test.log.has(.warning, log) }, "\(test.log.lines)")
    #expect(await test.ask("GET", "k") == "unavailable")
    #expect(!test.client.isAvailable && test.client.cluster?.nodeCount == 0)
  }
}
