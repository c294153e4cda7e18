import Carabiner
import CarabinerWire
import CommandTools
import Foundation
import Logging
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerCommand
@testable import CarabinerGateway

/// The access log of a gateway and the request ids.
@Suite("carabiner serve: request ids and the access log")
struct AccessLogTests {
  private func lines(_ gateway: ServeProcess, _ logger: String) async throws -> [JSONValue] {
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    return try gateway.errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
      .filter { $0["logger"]?.string == logger }
  }

  private static func id(_ answer: RawAnswer) -> String? {
    let ids = answer.head.filter { $0.hasPrefix("X-Request-Id: ") }
    return ids.count == 1 ? ids.first.map { String($0.dropFirst("X-Request-Id: ".count)) } : nil
  }

  @Test("every request has one line with all of its fields")
  func accessLog() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    let plugin = try await CompiledFixture("stamp", defining: ["UP_FAILS"])
    _ = try folder.write(
      """
      carabiner: 1
      plugins: [{name: stamp, file: \(plugin.path)}]
      rules: [{when: {operation: Broken}, chain: {http: [stamp, response-code]}}]

      """, to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint, ["--access-log", "--log-format", "json", "--maximum-batch", "2"])
    #expect(Self.id(try gateway.query("query Good { __typename }", headers: ["X-Request-Id: good-1"])) == "good-1")
    #expect(try gateway.query("query Broken { __typename }", headers: ["X-Request-Id: broken-1"]).status == 500)
    _ = try RawAnswer(gateway.endpoint, body: "{", headers: ["X-Request-Id: refused-1"])
    _ = try RawAnswer(
      gateway.endpoint, body: #"[{"query":"mutation M { a }"},{"query":"{ b }"}]"#, headers: ["X-Request-Id: batch-1"])
    _ = try RawAnswer("\(gateway.origin)/healthz")
    let lines = try await lines(gateway, "carabiner.access")
    func line(_ id: String) -> JSONValue? { lines.first { $0["request_id"]?.string == id } }
    #expect(lines.count == 4)
    let good = line("good-1")
    #expect(good?["status"] == 200 && good?["operation"] == "Good" && good?["type"] == "query" && good?["generation"] == 1)
    #expect(good?["client"] == "127.0.0.1" && good?["message"] == "request" && good?["level"] == "info")
    #expect(good?["duration_ms"]?.double ?? 0 > 0)
    #expect(good?["time"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(lines)")
    let broken = line("broken-1")
    #expect(broken?["status"] == 500 && broken?["plugin"] == "stamp" && broken?["code"] == "INTERCEPTOR_FAILED")
    #expect(line("refused-1")?["status"] == 400 && line("refused-1")?["operation"] == nil)
    #expect(line("batch-1")?["operations"] == 2)
    let failures = try gateway.errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
      .filter { $0["message"] == "an operation failed" }
    #expect(failures.contains { $0["request_id"] == "broken-1" && $0["plugin"] == "stamp" && $0["level"] == "warning" })
  }

  @Test("a client that goes is written down without a status, and without the option nothing is")
  func cancelled() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--access-log"])
    let quiet = try ServeProcess(folder, endpoint: upstream.endpoint)
    #expect(try quiet.query("{ __typename }").status == 200)
    let broken = try RawAnswer(
      gateway.endpoint, body: #"{"query":"subscription Slow { countdown(from: 10000, everyMilliseconds: 20) }"}"#,
      headers: ["Accept: text/event-stream"], within: 0.5)
    #expect(broken.curlStatus == 28)
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    let line = gateway.errors.split(separator: "\n").first { $0.contains(" info carabiner.access: request ") }
    #expect(line?.contains(" cancelled=true ") == true && line?.contains(" operation=Slow ") == true, "\(gateway.errors)")
    #expect(line?.contains("status=") == false)
    #expect(try await offThePool { quiet.end(with: SIGTERM) } == 0)
    #expect(!quiet.errors.contains("carabiner.access"), "\(quiet.errors)")
  }

  @Test("the client's or a new request id is forwarded if the manifest allows it, and never a malformed one")
  func forwarding() throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nserve: {forward-headers: [x-request-id]}\n", to: "chain.yaml")
    let open = try ServeProcess(folder, endpoint: upstream.endpoint)
    _ = try folder.write("carabiner: 1\n", to: "closed.yaml")
    let closed = try ServeProcess(folder, manifest: "closed.yaml", endpoint: upstream.endpoint)
    let query = #"{ echoHeader(name: "x-request-id") }"#
    for headers in [["X-Request-Id: mine"], [], ["X-Request-Id: not \"mine\""]] {
      let answer = try open.query(query, headers: headers)
      let id = Self.id(answer)
      #expect(answer.text == #"{"data":{"echoHeader":"\#(id ?? "none")"}}"#)
      #expect((id == "mine") == (headers == ["X-Request-Id: mine"]))
    }
    #expect(try closed.query(query, headers: ["X-Request-Id: mine"]).text == #"{"data":{"echoHeader":null}}"#)
  }

  @Test("no secret of the manifest is in a line, whatever its source")
  func secrets() async throws {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(body: "the key is s3cret-s3cret") })
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nheaders: {X-Key: '${env:TEST_KEY}'}\n", to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: "\(upstream.origin)/graphql", ["--access-log", "--log-format", "json"],
      environment: ["TEST_KEY": "s3cret-s3cret", "CARABINER_LOG": "trace"])
    #expect(try gateway.query("query Get { a }", headers: ["X-Request-Id: s3cret-s3cret"]).status == 502)
    let lines = try await lines(gateway, "carabiner.access")
    #expect(lines.first?["request_id"] == "${env:TEST_KEY}")
    #expect(!gateway.errors.contains("s3cret"), "\(gateway.errors)")
  }

  @Test(
    "a client's request id is used if it is well-formed",
    arguments: [
      ("X-Request-Id", "a", "a"), ("X-Request-Id", "7f3:A_b-c.d/e+f=@g,~", "7f3:A_b-c.d/e+f=@g,~"),
      ("X-Request-Id", String(repeating: "a", count: 128), String(repeating: "a", count: 128)),
      ("X-Request-Id", String(repeating: "a", count: 129), nil), ("X-Request-Id", "", nil), ("X-Request-Id", "a b", nil),
      ("X-Request-Id", "ü", nil), ("X-Request-Id", "a\"b", nil), ("X-Request-Id", "a\nb", nil),
      (
        "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"
      ),
      (
        "traceparent", "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes", "4bf92f3577b34da6a3ce929d0e0e4736"
      ),
      ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", nil),
      ("traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", nil),
      ("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", nil),
      ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", nil),
      ("traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", nil), ("traceparent", "00", nil),
    ] as [(String, String, String?)])
  func ids(_ field: String, _ value: String, _ expected: String?) {
    let id = RequestID.of([field: value])
    if let expected { #expect(id == expected) } else { #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(id)") }
  }

  @Test("ids that are made are all different")
  func uniqueness() { #expect(Set((0..<10_000).map { _ in RequestID.new() }).count == 10_000) }

  @Test(
    "a log record is one line with unchanged values, and drives no terminal",
    arguments: [
      "plain", "a b", "a\nb", "a\"b", "a=b", "", "ü\u{1B}[31m", "a\u{9B}31m", "\u{202E}a", "a\u{2028}b", "a\u{85}b\u{2066}",
    ])
  func lines(_ value: String) throws {
    let time = Date(timeIntervalSince1970: 1_700_000_000.5)
    let text = LogFormat.text.line(.info, "label", "it \(value)", ["field": "\(value)", "n": .stringConvertible(2)], at: time)
    #expect(text.hasPrefix("2023-11-14T22:13:20.500Z info label: it ") && text.hasSuffix(" n=2\n"), "\(text)")
    let record = LogFormat.json.line(
      .error, "label", value,
      ["level": "\(value)", "n": .stringConvertible(1.5), "yes": .stringConvertible(true), "list": ["a", ["b": "c"]]], at: time)
    let driving = "\u{1B}\u{9B}\u{202E}\u{2066}".unicodeScalars
    for line in [text, record] {
      #expect(line.filter(\.isNewline).count == 1 && !line.unicodeScalars.contains { driving.contains($0) })
    }
    let json = try JSONValue(parsing: record)
    #expect(
      json == [
        "time": "2023-11-14T22:13:20.500Z", "level": "error", "logger": "label", "message": .string(value),
        "field_level": .string(value), "list": ["a", ["b": "c"]], "n": 1.5, "yes": true,
      ])
  }

  @Test("lines are dropped and counted if the reader is slow, and requests do not wait for it")
  func slowReader() async throws {
    let pipe = Pipe.notInherited()
    let writer = LineWriter(LogFile(descriptor: pipe.fileHandleForWriting.fileDescriptor), maximumBytes: 100)
    // More than the pipe holds, so that the writer blocks.
    let large = String(repeating: "x", count: 99) + "\n"
    var written = 0
    while written < 1 << 20 {
      writer.append(large)
      written += large.utf8.count
    }
    let reading = Task.detached { try await offThePool { pipe.fileHandleForReading.readDataToEndOfFile() } }
    let leftOut = try await offThePool { writer.finish() }
    try pipe.fileHandleForWriting.close()
    let read = try await reading.value
    #expect(leftOut > 0)
    #expect(read.count + leftOut * 100 == written)
    #expect(read.count % 100 == 0)
  }
}
