import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// The plugin redis-cache with servers that are not Redis, or lie.
@Suite("Catalogue: redis-cache and hostile servers")
struct HostileRedisTests {
  /// A server that accepts every login, and its answer to a read.
  struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: @Sendable (Peer) throws -> Void

    init(_ name: String, _ answer: @escaping @Sendable (Peer) throws -> Void) {
      testDescription = name
      self.answer = answer
    }

    init(_ name: String, text: String) {
      self.init(name) { try $0.send(text) }
    }

    /// Sends bytes until the client has enough.
    init(_ name: String, first: String, endless: String) {
      self.init(name) { peer in
        try peer.send(first)
        let piece = String(repeating: endless, count: 65536 / endless.utf8.count)
        while true { try peer.send(piece) }
      }
    }
  }

  private static func entry(_ json: String) -> String { "*2\r\n$-1\r\n$\(json.utf8.count + 6)\r\nCRB10:\(json)\r\n" }

  static let servers = [
    Hostile("another protocol", text: "HTTP/1.1 400 Bad Request\r\n\r\n"),
    Hostile("lists in lists", text: String(repeating: "*1\r\n", count: 100_000)),
    Hostile("an endless line", first: "+", endless: "x"),
    Hostile("an endless text", first: "*2\r\n$-1\r\n$1000000\r\n", endless: "x"),
    Hostile("answers without end", first: "", endless: "+OK\r\n"),
    Hostile("a text of 100 GB", text: "*2\r\n$-1\r\n$100000000000\r\n"),
    Hostile("a list of two billion elements", text: "*2147483647\r\n"),
    Hostile("numbers in place of texts", text: "*2\r\n:1\r\n:2\r\n"), Hostile("a list of one", text: "*1\r\n$-1\r\n"),
    Hostile("an error", text: "-LOADING Redis is loading the dataset in memory\r\n"),
    Hostile("an error with escapes", text: "-\u{1B}[31mred\r\n"), Hostile("an entry that is not JSON", text: entry("{]")),
    Hostile("an entry that is not an object", text: entry("[1]")),
    Hostile("an entry with deep lists", text: entry(String(repeating: "[", count: 500_000))),
    Hostile("an entry of another program", text: "*2\r\n$-1\r\n$2\r\n{}\r\n"),
    Hostile("a large epoch", text: "*2\r\n$1000\r\n\(String(repeating: "e", count: 1000))\r\n$-1\r\n"),
    Hostile("the end of the connection") { _ in throw CancellationError() },
    Hostile("half an answer") { peer in
      try peer.send("*2\r\n$-1\r\n$10\r\nabc")
      throw CancellationError()
    }, Hostile("silence") { $0.waitForHangUp() },
  ]

  @Test("hostile answers fail no operation and use no memory", .rule("convention.5", "gateway.11"), arguments: servers)
  func hostile(_ hostile: Hostile) async throws {
    let reads = Reads()
    let server = try ScriptedServer { peer in
      while let bytes = peer.receive() {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("PING") { try peer.send("+PONG\r\n") }
        if text.contains("MGET") {
          reads.add()
          try hostile.answer(peer)
        }
      }
    }
    let upstream = try CountingUpstream()
    let gateway = try await CachingGateway(
      try StoreFolder(), url: "redis://127.0.0.1:\(server.port)", "read-budget-milliseconds: 100", upstream: upstream)
    let before = try gateway.process.residentBytes()
    var number = 0
    // The gateway connects a moment after its start.
    while reads.count == 0, number < 3000 {
      number += 1
      #expect(try gateway.answer("query A { n }") == "\(number) nobody")
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(reads.count > 0)
    for _ in 0..<10 {
      number += 1
      #expect(try gateway.answer("query A { n }") == "\(number) nobody")
    }
    #expect(upstream.count == number)
    #expect(try gateway.process.residentBytes() - before < 96 << 20)
    #expect(!gateway.process.errors.contains("\u{1B}"))
  }

  @Test("a server that accepts connections and says nothing holds no operation")
  func mute() async throws {
    let server = try ScriptedServer { $0.waitForHangUp() }
    let upstream = try CountingUpstream()
    let gateway = try await CachingGateway(try StoreFolder(), url: "redis://127.0.0.1:\(server.port)", "", upstream: upstream)
    #expect(try gateway.answer("query A { n }") == "1 nobody")
    #expect(await gateway.logs("the server did not answer within 500 ms"))
    // It connects again, each time after a longer pause.
    #expect(await eventually { server.connections >= 3 })
    #expect(try gateway.answer("query A { n }") == "2 nobody")
  }
}

/// How many reads a server got.
private final class Reads: Sendable {
  private let state = Mutex(0)

  var count: Int { state.withLock(\.self) }
  func add() { state.withLock { $0 += 1 } }
}
