import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner run over WebSocket")
struct WebSocketCommandTests {
  private static let countdown = "subscription { countdown(start: 3, every: 0.01) }"
  private static let lines = [3, 2, 1, 0].map { #"{"data":{"countdown":\#($0)}}"# }

  private func run(
    _ arguments: [String], _ document: String, environment: [String: String] = [:],
    onFirstLine: (@Sendable (Int32) -> Void)? = nil
  ) async throws -> (run: CommandRun, lines: [String]) {
    let run = try await CommandRun(
      ["run", "--output", "jsonl"] + arguments + ["-"], input: document, environment: environment, onFirstLine: onFirstLine)
    return (run, run.output.split(separator: "\n").map(String.init))
  }

  private func address(_ server: StrawberryServer, _ path: String = "/graphql") -> String {
    "ws://127.0.0.1:\(server.port)\(path)"
  }

  @Test(
    "--websocket alone takes every operation, in both protocols", .rule("websocket.1", "websocket.3"),
    arguments: WebSocketProtocol.allCases)
  func alone(dialect: WebSocketProtocol) async throws {
    let server = try await StrawberryServer()
    let options = ["--websocket", address(server), "--websocket-protocol", dialect.rawValue]
    let (run, lines) = try await run(options, Self.countdown)
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines == Self.lines)
    // With the older protocol, this server accepts only subscriptions.
    let query = try await self.run(["--websocket", address(server), "--trace"], "{ books { title } }")
    #expect(query.run.status == 0, "\(query.run.errors)")
    #expect(query.lines.first?.contains("Solaris") == true)
    #expect(query.run.errors.contains("transport 127.0.0.1"), "\(query.run.errors)")
    #expect(query.run.errors.contains("subscribe"), "\(query.run.errors)")
  }

  @Test(
    "documents are sent over a WebSocket also with persisted queries, as its protocol has nothing else",
    .rule("websocket.1", "request.4"))
  func persisted() async throws {
    let server = try await StrawberryServer()
    let manifest = try TemporaryFile("carabiner: 1\nbuilt-ins: {persisted-queries: {enabled: true}}\n")
    let (run, lines) = try await run(
      ["-m", manifest.path, "--apq", "--websocket", address(server)], #"{ book(id: "2") { title } }"#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines == [#"{"data":{"book":{"title":"Solaris"}}}"#])
  }

  @Test(
    "a server of another family speaks both protocols too", .rule("websocket.1", "websocket.3"),
    arguments: WebSocketProtocol.allCases)
  func ariadne(dialect: WebSocketProtocol) async throws {
    let server = try await AriadneServer(dialect == .graphQLWS ? ["--legacy-websocket"] : [])
    let options = ["--websocket", "ws://127.0.0.1:\(server.port)/", "--websocket-protocol", dialect.rawValue]
    let (run, lines) = try await run(options, #"subscription { labels(of: "2", count: 3) { id label room { name } } }"#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      lines == (0..<3).map { #"{"data":{"labels":{"id":"2","label":"label \#($0)","room":{"name":"North"}}}}"# })
    let refused = try await self.run(options, "subscription { refused }")
    #expect(refused.run.status == 1, "\(refused.run.errors)")
    // This server sends the refusal as a result with errors.
    #expect(refused.run.output.contains("subscriptions are forbidden"), "\(refused.run.output)\(refused.run.errors)")
  }

  @Test(
    "the manifest sets the URL of subscriptions, with secrets in connection_init; other operations use HTTP", .rule("websocket.1")
  )
  func manifest() async throws {
    let server = try await StrawberryServer()
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      endpoint: \(server.endpoint)
      settings:
        websocket: {url: "\(address(server, "/guarded"))", connection-init: {token: "open ${env:WORD}"}}
      """)
    let (run, lines) = try await run(["-m", manifest.path], Self.countdown, environment: ["WORD": "sesame"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(lines == Self.lines)
    let query = try await self.run(["-m", manifest.path], #"{ echo(text: "x") }"#, environment: ["WORD": "wrong"])
    #expect(query.run.status == 0, "\(query.run.errors)")
    #expect(query.lines == [#"{"data":{"echo":"POST x"}}"#])
    let refused = try await self.run(["-m", manifest.path], Self.countdown, environment: ["WORD": "wrong"])
    #expect(refused.run.status == 4, "\(refused.run.errors)")
    #expect(refused.run.errors.contains("4403"), "\(refused.run.errors)")
    let unset = try await self.run(["-m", manifest.path], Self.countdown)
    #expect(unset.run.status == 3, "\(unset.run.errors)")
  }

  @Test("Ctrl-C ends a subscription with an unsubscribe")
  func interrupt() async throws {
    let server = try await StrawberryServer()
    let (run, lines) = try await run(["--websocket", address(server)], "subscription { forever }") { kill($0, SIGINT) }
    #expect(run.status == 8, "\(run.errors)")
    #expect(lines.first == #"{"data":{"forever":0}}"#)
    func subscriptions() throws -> JSONValue {
      try JSONValue(parsing: RawAnswer("http://127.0.0.1:\(server.port)/subscriptions").text)
    }
    #expect(await eventually { try subscriptions() == ["running": 0, "ended": 1] })
  }

  @Test("failures have the exit status of their kind")
  func failures() async throws {
    let absent = try await run(["--websocket", "ws://127.0.0.1:1/"], Self.countdown)
    #expect(absent.run.status == 4)
    let reason = "nothing accepts connections at 127.0.0.1:1 (Connection refused);"
    #expect(absent.run.errors.contains(reason), "\(absent.run.errors)")
    let refusing = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond("401 Unauthorized") })
    let refused = try await run(["--websocket", "ws://127.0.0.1:\(refusing.port)/"], Self.countdown)
    #expect(refused.run.status == 5)
    for (arguments, fragment) in [
      (["--websocket", "http://127.0.0.1/"], "ws://"),
      (["--endpoint", "http://h", "--websocket-protocol", "graphql-ws"], "--websocket URL"),
      (["--websocket", "ws://h", "--websocket-protocol", "mqtt"], "graphql-transport-ws"), ([], "--websocket URL"),
    ] {
      let mistake = try await run(arguments, Self.countdown)
      #expect(mistake.run.status == 2 || mistake.run.status == 64, "\(arguments) \(mistake.run.status) \(mistake.run.errors)")
      #expect(mistake.run.errors.contains(fragment), "\(mistake.run.errors)")
    }
    let proxied = try await run(
      ["--websocket", "ws://127.0.0.1:1/"], Self.countdown, environment: ["http_proxy": "http://127.0.0.1:2", "no_proxy": ""])
    #expect(proxied.run.status == 4)
    #expect(proxied.run.errors.contains("add 127.0.0.1 to NO_PROXY"), "\(proxied.run.errors)")
  }
}

/// The short form of `Scripts/scenario soak`, with the command as the tests build it.
@Suite("Long subscriptions keep memory flat", .timeLimit(.minutes(10)))
struct SoakTests {
  @Test("5,000 results over multipart HTTP and over both WebSocket protocols", .rule("websocket.2", "multipart.5"))
  func short() async throws {
    let root = CommandRun.root
    let run = try await ToolRun(root.appending(path: "Scripts/scenario"), ["soak", "--debug", "--results", "5000"], in: root)
    #expect(run.status == 0, "\(run.errors)\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 3, "\(run.output)")
    #expect(lines.allSatisfy { $0.contains(": 5000 results, ") }, "\(run.output)")
  }
}
