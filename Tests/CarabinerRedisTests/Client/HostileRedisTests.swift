import CarabinerRESP
import CarabinerRedis
import Logging
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Servers that are not Redis, or lie.
@Suite("Hostile servers in place of Redis")
struct HostileRedisTests {
  /// A server that accepts every login, and what it sends as the answer to a command.
  struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let log: String
    let answer: @Sendable (Peer) throws -> Void

    init(_ name: String, log: String, _ answer: @escaping @Sendable (Peer) throws -> Void) {
      (testDescription, self.log, self.answer) = (name, log, answer)
    }

    init(_ name: String, log: String, text: String) { self.init(name, log: log) { try $0.send(text) } }

    /// Sends bytes until the client has enough.
    init(_ name: String, log: String, first: String, endless: String) {
      self.init(name, log: log) { peer in
        try peer.send(first)
        let piece = String(repeating: endless, count: 65536 / endless.utf8.count)
        while true { try peer.send(piece) }
      }
    }
  }

  static let servers = [
    Hostile("another protocol", log: "begins no type of RESP", text: "HTTP/1.1 400 Bad Request\r\n\r\n"),
    Hostile("levels without end", log: "more than 8 levels", text: String(repeating: "*1\r\n", count: 100_000)),
    Hostile("a line without end", log: "a line has more than", first: "+", endless: "x"),
    Hostile("attributes without end", log: "more than 1000000 bytes", first: "", endless: "|0\r\n"),
    Hostile("a text of 100 GB", log: "more than 1000000 bytes", text: "$100000000000\r\n"),
    Hostile("two billion values", log: "more than 1048576 values", text: "*2147483647\r\n"),
    Hostile("a text that is too long for its length", log: "a text does not end", text: "$2\r\nabcd\r\n"),
    Hostile("answers without end", log: "more answers than it got commands", first: "", endless: "+PONG\r\n"),
    Hostile("the end of the connection", log: "closed the connection") { _ in throw CancellationError() },
    Hostile("half an answer", log: "closed the connection") { peer in
      try peer.send("*2\r\n$-1\r\n$10\r\nabc")
      throw CancellationError()
    }, Hostile("a reset", log: "lost") { $0.reset() },
  ]

  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  /// Accepts the login and the PING of each connection, and runs a script at the first command of the first one.
  private func server(_ answer: @escaping @Sendable (Peer) throws -> Void) throws -> ScriptedServer {
    try ScriptedServer { peer in
      _ = peer.receive()
      try peer.send("%1\r\n$5\r\nproto\r\n:3\r\n")
      _ = peer.receive()
      try peer.send("+PONG\r\n")
      while peer.receive() != nil {
        guard peer.number > 1 else {
          try answer(peer)
          return peer.waitForHangUp()
        }
        try peer.send("+PONG\r\n")
      }
    }
  }

  @Test(
    "a hostile answer ends the connection with a reason, fails the call, and the next connection works", .rule("redis.2"),
    arguments: servers)
  func hostile(_ hostile: Hostile) async throws {
    let server = try server(hostile.answer)
    let test = try TestClient("redis://127.0.0.1:\(server.port)") { $0.limits.reply.replyBytes = 1_000_000 }
    await test.opened()
    let answer = await test.ask("PING")
    // Endless answers begin with a right one.
    #expect(answer == "connectionLost" || hostile.testDescription == "answers without end", "\(answer)")
    #expect(await eventually { test.log.has(.warning, hostile.log) }, "\(test.log.lines)")
    await test.opened()
    #expect(await eventually { await test.ask("PING") == "PONG" })
    #expect(server.connections >= 2 && test.client.waitingCommands == 0)
  }

  @Test("unexpected pushes are passed on and answer no command", .rule("redis.2"))
  func pushes() async throws {
    let server = try server { peer in
      for _ in 0..<1000 { try peer.send(">2\r\n+invalidate\r\n+x\r\n") }
      try peer.send("+PONG\r\n")
    }
    let test = try TestClient("redis://127.0.0.1:\(server.port)")
    await test.opened()
    #expect(await test.ask("PING") == "PONG")
    #expect(test.eventList.count == 1001 && test.eventList.last == "invalidate x")
  }

  @Test(
    "a server that does not answer a login as Redis does is not used", .rule("redis.3"),
    arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n", "$-1\r\n", ":1\r\n", "*1\r\n", ""])
  func login(answer: String) async throws {
    let server = try ScriptedServer { peer in
      _ = peer.receive()
      try peer.send(answer)
      if answer.isEmpty { return }
      peer.waitForHangUp()
    }
    let test = try TestClient("redis://127.0.0.1:\(server.port)") { $0.limits.openingTime = .milliseconds(300) }
    #expect(await eventually { server.connections >= 2 })
    #expect(await test.ask("PING") == "unavailable")
    #expect(test.log.lines.first?.hasPrefix("warning") == true && test.eventList.isEmpty, "\(test.log.lines)")
  }

  @Test("a server that reads nothing gets no more than the bound, and the circuit opens", .rule("redis.4"))
  func readsNothing() async throws {
    let isOver = Flag()
    defer { isOver.value.store(true, ordering: .relaxed) }
    let server = try server { peer in
      while !isOver.value.load(ordering: .relaxed) { peer.pause(milliseconds: 20) }
    }
    let test = try TestClient("redis://127.0.0.1:\(server.port)") { $0.limits.exhaustedBudgets = 1000 }
    await test.opened()
    let value = String(repeating: "x", count: 1 << 20)
    for _ in 0..<7 { #expect(await test.ask("SET", "k", value, within: .milliseconds(5)) == "budgetExhausted") }
    for _ in 0..<100 { #expect(await test.ask("SET", "k", value, within: .milliseconds(5)) == "overloaded") }
    #expect(test.client.waitingCommands == 7)
    await test.client.shutDown()
  }
}
