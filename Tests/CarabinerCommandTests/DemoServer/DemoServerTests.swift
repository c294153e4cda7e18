import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The demo server as a process, with `carabiner run` and real plugins against it.
@Suite("carabiner demo-server")
struct DemoServerTests {
  private static let plugins = CommandRun.root.appending(path: "Plugins").path

  private func manifest(_ server: DemoServerProcess, requiresSignature: Bool = true) throws -> TemporaryFile {
    try TemporaryFile(
      """
      carabiner: 1
      endpoint: \(server.endpoint)
      headers: {Accept: "application/cbor, application/json;q=0.1"}
      plugins:
        - {name: request-log, file: \(Self.plugins)/request-log/build/request-log.so}
        - name: token-auth
          file: \(Self.plugins)/token-auth/build/token-auth.so
          grants: [fetch]
          config: {token-url: "http://127.0.0.1:\(server.port)/token", client-id: test, client-secret: s3cret}
        - {name: ttl-cache, file: \(Self.plugins)/ttl-cache/build/ttl-cache.so, config: {ttl-seconds: 60}}
        - name: hmac-sign
          file: \(Self.plugins)/hmac-sign/build/hmac-sign.so
          config: {key: "${env:TEST_HMAC_KEY}", require-response-signature: \(requiresSignature)}
        - {name: cbor-parser, file: \(Self.plugins)/cbor-parser/build/cbor-parser.so}
      chain:
        graphql: [max-retry, request-log, token-auth]
        cache: [ttl-cache]
        http: [hmac-sign, response-code]
        parsing: [cbor-parser, json]
      """)
  }

  private func counters(_ server: DemoServerProcess) throws -> JSONValue {
    try JSONValue(parsing: try RawAnswer("http://127.0.0.1:\(server.port)/counters").text)
  }

  @Test("a query passes all five plugins down and up, and its CBOR answer is read by one of them")
  func fivePlugins() async throws {
    let server = try DemoServerProcess(["--require-auth"], environment: ["DEMO_SERVER_HMAC_KEY": "kéy"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--output", "json", "--trace", "-"],
      input: #"query Q { books { title rating author { name } } sent: echoHeader(name: "accept") secret }"#,
      environment: ["TEST_HMAC_KEY": "kéy"])
    #expect(run.status == 0, "\(run.errors)")
    let data = try JSONValue(parsing: run.output.trimmingCharacters(in: .whitespacesAndNewlines))["data"]
    #expect(data?["books"]?.array?.count == 5)
    #expect(data?["books"]?[1]?["author"]?["name"]?.string == "Stanisław Lem")
    #expect(data?["books"]?[1]?["rating"]?.double == 4.25)
    #expect(data?["books"]?[3]?["rating"] == .null)
    #expect(data?["sent"]?.string?.contains("cbor") == true)
    #expect(data?["secret"]?.string?.contains("librarian") == true)
    let trace = run.errors.split(separator: "\n")
    for name in ["request-log", "token-auth", "ttl-cache", "hmac-sign"] {
      #expect(trace.contains { $0.contains("▼") && $0.contains(name) }, "\(name) down")
      #expect(trace.contains { $0.contains("▲") && $0.contains(name) }, "\(name) up")
    }
    #expect(trace.contains { $0.contains("▲") && $0.contains("cbor-parser") && $0.contains("on_end") }, "\(run.errors)")
  }

  @Test("a used token is renewed once for all waiting requests, which then continue")
  func tokenUsedUp() async throws {
    let server = try DemoServerProcess(["--require-auth", "--token-uses", "20", "--hmac-key", "k"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
      [
        "run", "-m", manifest.path, "--output", "json", "--cache-policy", "networkOnly", "--repeat", "60", "--concurrency", "4",
        "-",
      ], input: "{ books { id } }", environment: ["TEST_HMAC_KEY": "k"])
    #expect(run.status == 0, "\(run.errors)")
    let summary = try JSONValue(parsing: run.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(summary["requests"]?.int == 60)
    #expect(summary["failed"]?.int == 0)
    let counters = try counters(server)
    let refused = try #require(counters["refusedForToken"]?.int)
    #expect(counters["graphqlRequests"]?.int == 60 + refused)
    #expect(refused >= 2)
    // Sixty requests need three tokens. Each rejected request can cause one more.
    let issued = try #require(counters["tokensIssued"]?.int)
    #expect((3...1 + refused).contains(issued))
  }

  @Test("a token is renewed before it expires, because the server reports its lifetime")
  func tokenExpires() async throws {
    // Tokens are renewed five seconds before they expire, so each of these is due at once.
    let server = try DemoServerProcess(["--require-auth", "--token-lifetime", "2", "--hmac-key", "k"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--output", "json", "--cache-policy", "networkOnly", "--repeat", "5", "-"],
      input: "{ secret }", environment: ["TEST_HMAC_KEY": "k"])
    #expect(run.status == 0, "\(run.errors)")
    let counters = try counters(server)
    #expect(counters["tokensIssued"]?.int == 5)
    #expect(counters["refusedForToken"]?.int == 0)
  }

  @Test("a request signed with another key is refused, and so is an answer")
  func wrongKey() async throws {
    let server = try DemoServerProcess(["--hmac-key", "right"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "-"], input: "{ books { id } }", environment: ["TEST_HMAC_KEY": "wrong"])
    #expect(run.status == 5, "\(run.errors)")
    #expect(run.errors.contains("403"))
    #expect(run.output.isEmpty)
    #expect(try counters(server)["refusedForSignature"]?.int == 1)
    // This server does not sign its responses, and the manifest requires signatures.
    let unsigned = try DemoServerProcess()
    let other = try self.manifest(unsigned)
    let second = try await CommandRun(
      ["run", "-m", other.path, "-"], input: "{ books { id } }", environment: ["TEST_HMAC_KEY": "right"])
    #expect(second.status == 7, "\(second.errors)")
    #expect(second.errors.contains("not signed"))
  }

  @Test("GraphQL errors and a document the schema refuses come through the plugins")
  func errors() async throws {
    let server = try DemoServerProcess()
    let failing = try await CommandRun(
      ["run", "--endpoint", server.endpoint, "--output", "json", "-"], input: "{ failing shelf { label } }")
    #expect(failing.status == 1)
    #expect(failing.output.contains("BROKEN"))
    let refused = try await CommandRun(["run", "--endpoint", server.endpoint, "--output", "json", "-"], input: "{ boks { id } }")
    #expect(refused.status == 1, "\(refused.errors)")
    #expect(refused.output.contains(#""locations":[{"line":1,"column":3}]"#), "\(refused.output)")
  }

  @Test("deferred parts arrive byte for byte as RFC 2046 has them")
  func deferredBytes() throws {
    let server = try DemoServerProcess()
    let answer = try RawAnswer(
      server.endpoint,
      body: #"{"query":"{ book(id: 2) { id ... @defer(label: \"r\") { review(afterMilliseconds: 1) } } }"}"#,
      headers: ["Accept: multipart/mixed;deferSpec=20220824,application/json"])
    #expect(answer.status == 200)
    #expect(answer.head.contains(#"Content-Type: multipart/mixed;boundary="carabiner";deferSpec=20220824"#))
    let head = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
    #expect(
      answer.text == """
        --carabiner\(head){"data":{"book":{"id":"2"}},"hasNext":true}\r\n--carabiner\(head)\
        {"incremental":[{"data":{"review":"Solaris, 1961: still worth every page."},"path":["book"],"label":"r"}],\
        "hasNext":false}\r\n--carabiner--\r\n
        """)
  }

  @Test("a subscription's parts arrive with its signs of life, and the close delimiter ends it")
  func subscriptionBytes() throws {
    let server = try DemoServerProcess(["--heartbeat", "0.05"])
    let answer = try RawAnswer(
      server.endpoint, body: #"{"query":"subscription { countdown(from: 1, everyMilliseconds: 80) }"}"#,
      headers: ["Accept: multipart/mixed;subscriptionSpec=1.0"])
    #expect(answer.head.contains(#"Content-Type: multipart/mixed;boundary="carabiner";subscriptionSpec=1.0"#))
    let parts = answer.text.components(separatedBy: "--carabiner\r\nContent-Type: application/json; charset=utf-8\r\n\r\n")
    #expect(
      parts == [
        "", "{}\r\n", "{\"payload\":{\"data\":{\"countdown\":1}}}\r\n", "{}\r\n",
        "{\"payload\":{\"data\":{\"countdown\":0}}}\r\n--carabiner--\r\n",
      ])
  }

  @Test("parts are sent when they are ready and not at the end")
  func incremental() throws {
    let server = try DemoServerProcess()
    let answer = try RawAnswer(
      server.endpoint, body: #"{"query":"subscription { countdown(from: 1000, everyMilliseconds: 100) }"}"#,
      headers: ["Accept: multipart/mixed;subscriptionSpec=1.0"], within: 1.5)
    #expect(answer.curlStatus == 28)
    #expect(answer.text.contains(#"{"payload":{"data":{"countdown":1000}}}"# + "\r\n--carabiner"))
    #expect(!answer.text.contains("--carabiner--"))
    // The client closed the connection early. The server still serves the next request.
    #expect(try RawAnswer(server.endpoint, body: #"{"query":"{ __typename }"}"#).text == #"{"data":{"__typename":"Query"}}"#)
  }

  @Test("a body larger than the limit is 413, and the server continues")
  func largeBody() throws {
    let server = try DemoServerProcess(["--maximum-body", "1000"])
    let large = try RawAnswer(server.endpoint, body: #"{"query":""# + String(repeating: "#", count: 200_000) + #""}"#)
    #expect(large.status == 413)
    #expect(large.text.contains("CONTENT_TOO_LARGE"))
    #expect(try RawAnswer(server.endpoint, body: #"{"query":"{ __typename }"}"#).status == 200)
  }

  @Test(
    "SIGTERM and SIGINT end it with 0, idle, with an open connection, or in the middle of answers", arguments: [SIGTERM, SIGINT])
  func signals(signal: Int32) async throws {
    let idle = try DemoServerProcess()
    #expect(idle.end(with: signal) == 0)
    let busy = try DemoServerProcess()
    let countdown = try RawRequest(
      busy.endpoint, body: #"{"query":"subscription { countdown(from: 1000, everyMilliseconds: 10) }"}"#,
      headers: ["Accept: multipart/mixed;subscriptionSpec=1.0"])
    let slow = try RawRequest(busy.endpoint, body: #"{"query":"{ slow(seconds: 30) }"}"#)
    #expect(await eventually { try counters(busy)["graphqlRequests"]?.int == 2 })
    let start = ContinuousClock.now
    #expect(busy.end(with: signal) == 0)
    #expect(ContinuousClock.now - start < .seconds(10))
    // Both requests get an orderly end instead of a closed connection. The first can end before its first part.
    let parts = countdown.answer().text
    #expect(parts == "--carabiner--\r\n" || parts.hasSuffix("\r\n--carabiner--\r\n"))
    #expect(slow.answer().text.contains("CANCELLED"))
  }

  @Test("a client that sends half a request does not prevent the server from ending")
  func halfRequest() throws {
    let server = try DemoServerProcess()
    // curl waits for the server, which waits for the rest of the body.
    let half = try RawRequest(server.endpoint, body: "{", headers: ["Content-Length: 100"])
    usleep(300_000)
    let start = ContinuousClock.now
    #expect(server.end(with: SIGTERM) == 0)
    #expect(ContinuousClock.now - start < .seconds(10))
    #expect(half.answer().status != 200)
  }

  @Test("a port in use is exit status 4, with a hint")
  func takenPort() async throws {
    let server = try DemoServerProcess()
    let run = try await CommandRun(["demo-server", "--port", "\(server.port)"])
    #expect(run.status == 4)
    #expect(run.errors.contains("try another --port"))
    #expect(run.output.isEmpty)
  }

  @Test(
    "options out of range are exit status 2",
    arguments: [
      ["--port", "65536"], ["--port", "x"], ["--token-uses", "0"], ["--token-lifetime", "-1"], ["--token-lifetime", "nan"],
      ["--heartbeat", "0"], ["--maximum-body", "0"], ["--maximum-depth", "31"], ["--hmac-key", ""], ["--nonsense"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(["demo-server"] + arguments)
    #expect(run.status == 2, "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("the help lists the endpoints, and the schema can be printed")
  func help() async throws {
    let help = try await CommandRun(["demo-server", "--help"])
    #expect(help.status == 0)
    for word in ["/graphql", "/token", "listening PORT", "--hmac-key", "DEMO_SERVER_HMAC_KEY"] {
      #expect(help.output.contains(word))
    }
    await #expect(try CommandRun(["demo-server", "--print-schema"]).output.hasPrefix("type Query {\n"))
  }
}
