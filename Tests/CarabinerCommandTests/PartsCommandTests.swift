import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner run with responses in parts")
struct PartsCommandTests {
  private func run(
    _ endpoint: String, _ document: String, onFirstLine: (@Sendable (Int32) -> Void)? = nil
  ) async throws -> (run: CommandRun, lines: [String]) {
    let run = try await CommandRun(
      ["run", "--endpoint", endpoint, "--output", "jsonl", "-"], input: document, onFirstLine: onFirstLine)
    return (run, run.output.split(separator: "\n").map(String.init))
  }

  @Test("a deferred query of the demo server prints each merged result on a line", .rule("multipart.4"))
  func deferred() async throws {
    let server = try DemoServerProcess()
    let (run, lines) = try await run(
      server.endpoint, #"query Q { book(id: "2") { id ... @defer(label: "r") { review(afterMilliseconds: 100) } } }"#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      lines == [
        #"{"data":{"book":{"id":"2"}}}"#, #"{"data":{"book":{"id":"2","review":"Solaris, 1961: still worth every page."}}}"#,
      ])
  }

  @Test("a subscription of the demo server prints each result on a line, and no sign of life", .rule("multipart.5"))
  func subscription() async throws {
    let server = try DemoServerProcess(["--heartbeat", "0.02"])
    let (run, lines) = try await run(server.endpoint, "subscription { countdown(from: 3, everyMilliseconds: 60) }")
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines == [3, 2, 1, 0].map { #"{"data":{"countdown":\#($0)}}"# })
  }

  @Test("a subscription that the demo server breaks off ends with its errors", .rule("multipart.5"))
  func subscriptionFails() async throws {
    let server = try DemoServerProcess()
    let (run, lines) = try await run(server.endpoint, "subscription { countdown(from: 2, everyMilliseconds: 20, failAt: 1) }")
    #expect(run.status == 1)
    #expect(run.errors.contains("the countdown broke off"), "\(run.errors)")
    #expect(lines == [#"{"data":{"countdown":2}}"#])
  }

  @Test("a deferred query of strawberry prints each merged result on a line", .rule("multipart.4"))
  func strawberryDeferred() async throws {
    let server = try await StrawberryServer()
    let (run, lines) = try await run(server.endpoint, #"{ book(id: "2") { title ... @defer(label: "r") { review } } }"#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      lines == [
        #"{"data":{"book":{"title":"Solaris"}}}"#,
        #"{"data":{"book":{"title":"Solaris","review":"Solaris, read in one night"}}}"#,
      ])
  }

  @Test("a list that strawberry streams grows, and nothing is lost or twice in it", .rule("multipart.4"))
  func strawberryStreamed() async throws {
    let server = try await StrawberryServer()
    let (run, lines) = try await run(server.endpoint, "{ counted(to: 30) @stream(initialCount: 2) }")
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines.first == #"{"data":{"counted":[1,2]}}"#)
    #expect(lines.last == #"{"data":{"counted":[\#((1...30).map(String.init).joined(separator: ","))]}}"#)
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $1.hasPrefix($0.dropLast(3)) })
  }

  @Test("a multipart subscription of strawberry", .rule("multipart.5"))
  func strawberry() async throws {
    let server = try await StrawberryServer()
    let (run, lines) = try await run(server.endpoint, "subscription { countdown(start: 4) }")
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines == [4, 3, 2, 1, 0].map { #"{"data":{"countdown":\#($0)}}"# })
    let failing = try await self.run(server.endpoint, "subscription { countdown(start: 1, failAt: 0) }")
    #expect(failing.run.status == 1)
    #expect(failing.lines.first == #"{"data":{"countdown":1}}"#)
    #expect(failing.lines.last?.contains("the countdown broke off") == true)
  }

  @Test("results are printed as they come; Ctrl-C ends a subscription, and the server sees the connection close")
  func interrupt() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        let parts = "--b\r\n\r\n{\"payload\":{\"data\":{\"n\":1}}}\r\n--b"
        try peer.send(
          "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b; subscriptionSpec=1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(parts.utf8.count, radix: 16))\r\n\(parts)\r\n")
        peer.waitForHangUp()
      })
    let (run, lines) = try await run(server.origin, "subscription { n }") { kill($0, SIGINT) }
    #expect(run.status == 8, "\(run.errors)")
    #expect(lines == [#"{"data":{"n":1}}"#])
    let end = Date.now + 60
    while server.hangUps == 0, Date.now < end { usleep(5000) }
    #expect(server.hangUps == 1)
  }

  @Test("a response in parts that breaks the rules is exit status 6, after what came before")
  func badParts() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(
          headers: "Content-Type: multipart/mixed; boundary=b; deferSpec=20220824\r\n",
          body: "--b\r\n\r\n{\"data\":{\"a\":1},\"hasNext\":true}\r\n--b--")
      })
    let (run, lines) = try await run(server.origin, "{ a ... @defer { b } }")
    #expect(run.status == 6)
    #expect(run.errors.contains("incomplete"), "\(run.errors)")
    #expect(lines == [#"{"data":{"a":1}}"#])
  }
}
