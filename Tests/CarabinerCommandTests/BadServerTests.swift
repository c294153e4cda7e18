import CarabinerWire
import Foundation
import ScriptedServer
import Testing

/// The command against a server that misbehaves on purpose.
@Suite("carabiner run against bad servers")
struct BadServerTests {
  /// One answer and what the command makes of it.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int32
    let message: String
    let answer: @Sendable (Peer) throws -> Void

    init(_ name: String, _ status: Int32, _ message: String, _ answer: @escaping @Sendable (Peer) throws -> Void) {
      testDescription = name
      self.status = status
      self.message = message
      self.answer = answer
    }

    /// Answers 200 with these bytes as JSON.
    init(_ name: String, _ status: Int32, _ message: String, json: [UInt8]) {
      self.init(name, status, message) { peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(json.count)\r\n\r\n")
        try peer.send(json)
      }
    }
  }

  private static let cases: [Case] = [
    Case("a truncated answer", 6, "ends in the middle of a value", json: Array(#"{"data":{"books":[{"title":"So"#.utf8)),
    Case("an answer nested too deeply", 6, "deep", json: Array(#"{"data":"#.utf8) + [UInt8](repeating: 0x5B, count: 100_000)),
    Case(
      "an answer that is not UTF-8", 6, "UTF-8", json: Array(#"{"data":{"title":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8)),
    Case("an answer that is no GraphQL response", 6, "notAGraphQLResponse", json: Array(#"{"hello":"world"}"#.utf8)),
    Case("an empty answer", 6, "invalidJSON", json: []),
    Case("status 500", 5, "500") { try $0.respond("500 Internal Server Error", body: "broken") },
    Case("an empty status 500", 5, "500") { try $0.respond("500 Internal Server Error") },
    Case("a redirect to a file", 4, "not an http or https URL") {
      try $0.respond("302 Found", headers: "Location: file:///etc/passwd\r\n")
    },
    Case("a redirect loop", 4, "is it a loop?") { try $0.respond("302 Found", headers: "Location: /graphql\r\n") },
    Case("a connection that ends in the body", 4, "before its length") { peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
      peer.close()
    },
    Case("a server that speaks no HTTP", 4, "as an HTTP server should") { peer in
      try peer.send("SSH-2.0-test\r\n")
      peer.close()
    },
  ]

  @Test("each ends with its exit status, a reason, and nothing on standard output", arguments: cases)
  func exitStatus(_ item: Case) async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try item.answer(peer) })
    let run = try await CommandRun(
      ["run", "--endpoint", "\(server.origin)/graphql", "--timeout", "20", "-"], input: "mutation M { buy }")
    #expect(run.status == item.status, "\(run.errors)")
    #expect(run.errors.hasPrefix("error: "))
    #expect(run.errors.contains(item.message), "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(!run.errors.contains("root:"))
  }

  @Test("an answer that drips past --timeout is exit status 4")
  func drip() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
        while true {
          try peer.send(" ")
          peer.pause(milliseconds: 10)
        }
      })
    let run = try await CommandRun(["run", "--endpoint", server.origin, "--timeout", "0.5", "-"], input: "{ a }")
    #expect(run.status == 4, "\(run.errors)")
    // On a busy machine libcurl's own clock is sometimes the first to say so.
    #expect(run.errors.contains("[timedOut"), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("Ctrl-C ends a request that waits with exit status 8, and the server sees the connection close")
  func interrupt() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in peer.waitForHangUp() })
    let run = try await CommandRun(["run", "--endpoint", server.origin, "-"], input: "{ a }") { process in
      let end = Date.now + 20
      while server.requests.isEmpty, Date.now < end { usleep(5000) }
      kill(process, SIGINT)
    }
    #expect(run.status == 8, "\(run.errors)")
    #expect(run.output.isEmpty)
    let end = Date.now + 5
    while server.hangUps == 0, Date.now < end { usleep(5000) }
    #expect(server.hangUps == 1)
  }
}
