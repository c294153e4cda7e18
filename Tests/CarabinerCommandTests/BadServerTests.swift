import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Testing

/// The command against a server that misbehaves on purpose.
@Suite("carabiner run against bad servers")
struct BadServerTests {
  /// One response and the expected result of the command.
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
    Case("a body that is not a GraphQL response", 6, "notAGraphQLResponse", json: Array(#"{"hello":"world"}"#.utf8)),
    Case("errors that are a text", 6, "errors are not a list of objects", json: Array(#"{"errors":"x"}"#.utf8)),
    Case("an error that is a text", 6, "errors are not a list of objects", json: Array(#"{"errors":["x"]}"#.utf8)),
    Case("errors that are a text beside data", 6, "not a list", json: Array(#"{"data":{"a":1},"errors":"x"}"#.utf8)),
    Case("an empty list of errors", 6, "list of errors is empty", json: Array(#"{"errors":[]}"#.utf8)),
    Case("no errors and no data", 6, "errors are null", json: Array(#"{"errors":null}"#.utf8)),
    Case("data that is a number", 6, "data is not an object", json: Array(#"{"data":1}"#.utf8)),
    Case("data that is a list", 6, "data is not an object", json: Array(#"{"data":[{"a":1}]}"#.utf8)),
    Case("an empty answer", 6, "notAGraphQLResponse", json: []),
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

  @Test(
    "a result is printed, and errors in it are exit status 1",
    arguments: [
      (#"{"data":null,"errors":[{"message":"no"}]}"#, 1), (#"{"errors":[{"message":"no"}]}"#, 1),
      (#"{"data":{"a":null},"errors":[{}]}"#, 1), (#"{"data":{"a":1},"errors":[]}"#, 0), (#"{"data":{"a":1},"errors":null}"#, 0),
      (#"{"data":null}"#, 0),
    ] as [(String, Int32)])
  func results(_ answer: String, _ status: Int32) async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(headers: "Content-Type: application/json\r\n", body: answer) })
    for input in ["{ a }", "mutation { a }", "subscription { a }"] {
      let run = try await CommandRun(["run", "--endpoint", server.origin, "--output", "jsonl", "-"], input: input)
      #expect(run.status == status, "\(input): \(run.errors)")
      #expect(run.output == answer + "\n")
      #expect(run.errors.isEmpty)
    }
  }

  @Test(
    "a header that would end its line is a usage error",
    arguments: ["X: a\r\nY: b", "X: a\nY: b", "X: a\r", "X\r\nY: b", "X Y: b", "X: a\u{7F}"])
  func headers(_ header: String) async throws {
    let run = try await CommandRun(["run", "--endpoint", "http://127.0.0.1:1/", "--header", header, "-"], input: "{ a }")
    #expect(run.status == 2)
    #expect(run.errors.contains("--header"))
  }

  @Test("a file of --cacert that cannot be read is a usage error")
  func missingAuthorities() async throws {
    let run = try await CommandRun(["run", "--endpoint", "http://127.0.0.1:1/", "--cacert", "/no/such.pem", "-"], input: "{ a }")
    #expect(run.status == 2)
    #expect(run.errors.contains("/no/such.pem cannot be read"))
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
    // On a busy machine, libcurl's own timeout sometimes fires first.
    #expect(run.errors.contains("[timedOut"), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("Ctrl-C ends a request that waits with exit status 8, and the server sees the connection close")
  func interrupt() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in peer.waitForHangUp() })
    let run = try await CommandRun(["run", "--endpoint", server.origin, "--timeout", "600", "-"], input: "{ a }") { process in
      let end = Date.now + 600
      while server.requests.isEmpty, Date.now < end { usleep(5000) }
      kill(process, SIGINT)
    }
    #expect(run.status == 8, "\(run.errors)")
    #expect(run.output.isEmpty && run.errors.isEmpty)
    let end = Date.now + 60
    while server.hangUps == 0, Date.now < end { usleep(5000) }
    #expect(server.hangUps == 1)
  }
}
