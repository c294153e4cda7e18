import CarabinerEtcd
import CarabinerWire
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Watches of etcd")
struct EtcdWatchTests {
  private func keys(_ events: [EtcdWatchLine.Event]) -> [String] {
    events.map { event in
      switch event {
      case .put(let value): "+\(value.key)"
      case .delete(let key): "-\(key)"
      }
    }
  }

  @Test("a watch reports the changes of a range from a revision on, and no others", .rule("fleet.4"))
  func changes() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let begin = try await client.range(.init(.all(prefix: "p/"))).revision
    try await client.put("p/stage/a", "1")
    let watch = try await client.watch(.range("p/stable", before: "p/stage0"), from: begin + 1)
    try await client.put("p/nodes/a", "1")
    _ = try await client.transaction(if: [], then: [.put("p/stable", []), .delete(.one("p/stage/a"))])
    var events: [String] = []
    while events.count < 3 { events += keys(try await watch.next().events) }
    #expect(events == ["+p/stage/a", "+p/stable", "-p/stage/a"])
  }

  @Test("a watch from a revision that is gone fails as compacted, though etcd leaves its stream open", .rule("fleet.4"))
  func compaction() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    for text in ["1", "2", "3"] { try await client.put("p/a", text) }
    let revision = try await client.range(.init(.one("p/a"))).revision
    _ = try await server.ask("/v3/kv/compaction", ["revision": .string("\(revision)")])
    let error = await #expect(throws: EtcdError.self) {
      let watch = try await client.watch(.all(prefix: "p/"), from: 1)
      while true { _ = try await watch.next() }
    }
    #expect(error?.code == .compacted)
  }

  @Test("a watch ends when its member is killed", .rule("fleet.4"))
  func killed() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let watch = try await client.watch(.all(prefix: "p/"), from: 1)
    server.end()
    let error = await #expect(throws: EtcdError.self) { while true { _ = try await watch.next() } }
    #expect(error?.code == .unavailable)
  }

  @Test("a watch ends when its member has lost the two others", .rule("fleet.4"))
  func noLeader() async throws {
    let servers = try await EtcdServer.cluster(3)
    let client = try EtcdTest.client(servers[0].url)
    let watch = try await client.watch(.all(prefix: "p/"), from: 1)
    servers[1].end()
    servers[2].end()
    let error = await #expect(throws: EtcdError.self) { while true { _ = try await watch.next() } }
    #expect(error?.code == .unavailable && error?.message.contains("no leader") == true)
    // A member answers by itself what it knows.
    #expect(try await client.range(.init(.one("x"), isLocal: true)).values.isEmpty)
    let read = await #expect(throws: EtcdError.self) { try await client.range(.init(.one("x"))) }
    #expect(read?.code == .unavailable)
  }

  @Test("a member that accepts a watch and does not begin it is given up", .rule("fleet.4"))
  func silent() async throws {
    let server = try await EtcdServer.single()
    try await server.stop()
    let client = try EtcdTest.client(server.url) { $0.limits.timeout = 1 }
    let error = await #expect(throws: EtcdError.self) { try await client.watch(.one("x"), from: 1) }
    #expect(error?.code == .unavailable)
  }

  /// The bytes of a server after the line that begins a watch, and the error for them.
  struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: EtcdError.Code
    let message: String
    let send: @Sendable (Peer) throws -> Void
  }

  static let hostile = [
    Hostile(testDescription: "a line without end", code: .malformed, message: "more than 4194304 bytes") { peer in
      let piece = String(repeating: "x", count: 65536)
      while true { try peer.send(piece) }
    },
    Hostile(testDescription: "a line that is not JSON", code: .malformed, message: "not JSON") { try $0.send("{\"result\":}\n") },
    Hostile(testDescription: "an empty line", code: .malformed, message: "not JSON") { try $0.send("\n") },
    Hostile(testDescription: "a line without a result", code: .malformed, message: "no result") { try $0.send("{}\n") },
    Hostile(testDescription: "a base64 error", code: .malformed, message: "not base64") {
      try $0.send("{\"result\":{\"events\":[{\"kv\":{\"key\":\"*\"}}]}}\n")
    },
    Hostile(testDescription: "a canceled watch", code: .unavailable, message: "without a reason") {
      try $0.send("{\"result\":{\"canceled\":true}}\n")
    },
    Hostile(testDescription: "the end in the middle of a line", code: .unavailable, message: "begun again") {
      try $0.send("{\"result\":{\"ev")
      throw CancellationError()
    },
  ]

  @Test("bytes that are not a line of a watch end the stream, though the server leaves it open", arguments: hostile)
  func hostileLines(_ hostile: Hostile) async throws {
    let server = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      // Until the end of the connection.
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"result\":{\"created\":true}}\n")
      try hostile.send(peer)
      while peer.receive() != nil {}
    }
    let client = try EtcdTest.client(server.origin)
    let watch = try await client.watch(.one("x"), from: 1)
    let error = await #expect(throws: EtcdError.self) { try await watch.next() }
    #expect(error?.code == hostile.code)
    #expect(error?.message.contains(hostile.message) == true, "\(error?.message ?? "")")
  }

  @Test("changes without the begin of a watch end it")
  func neverBegun() async throws {
    let server = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while true { try peer.send("{\"result\":{\"events\":[{\"kv\":{\"key\":\"YQ==\"}}]}}\n") }
    }
    let client = try EtcdTest.client(server.origin)
    let error = await #expect(throws: EtcdError.self) { try await client.watch(.one("x"), from: 1) }
    #expect(error?.code == .malformed)
  }

  @Test("an answer with too many bytes or keys, and one of another server, are refused")
  func hostileAnswers() async throws {
    let many = #"{"kvs":["# + Array(repeating: #"{"key":"YQ=="}"#, count: 11).joined(separator: ",") + "]}"
    for (head, body, message) in [
      ("HTTP/1.1 200 OK", String(repeating: " ", count: 2000), "more than 1000 bytes"),
      ("HTTP/1.1 200 OK", many, "more than 10 keys"),
      ("HTTP/1.1 200 OK", #"{"more":true}"#, "more than 10 keys"), ("HTTP/1.1 200 OK", "<html>", "not JSON"),
      ("HTTP/1.1 404 Not Found", "Not Found", "with its gateway enabled"),
      ("HTTP/1.1 302 Found\r\nLocation: http://a/", "", "redirected"),
    ] {
      let server = try ScriptedServer(
        ScriptedServer.answering { _, peer in try peer.send("\(head)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)") })
      let client = try EtcdTest.client(server.origin) {
        $0.limits.answerBytes = 1000
        $0.limits.keys = 10
      }
      let error = await #expect(throws: EtcdError.self) { try await client.range(.init(.one("x"))) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }
}
