import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Clients that send malformed requests or never finish them.
@Suite("carabiner serve: hostile clients")
struct HostileClientTests {
  private let upstream: DemoServerProcess
  private let gateway: ServeProcess

  init() throws {
    upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint,
      ["--maximum-body", "2000B", "--maximum-head", "2000B", "--receive-timeout", "500ms", "--idle-timeout", "1s"])
  }

  private static let query = #"{"query":"{ __typename }"}"#
  private static let answer = #"{"data":{"__typename":"Query"}}"#

  private static func post(_ headers: String, _ body: String = query) -> String {
    "POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n\(headers)\r\n\(body)"
  }

  private func exchange(_ text: String) throws -> (text: String, isClosed: Bool) {
    let client = try ClientSocket(port: gateway.port)
    client.send(text)
    return client.read()
  }

  /// After a hostile client, other clients are served as before.
  private func expectServes() throws { #expect(try gateway.query("{ __typename }").text == Self.answer) }

  @Test(
    "a request with an ambiguous end is refused, and the bytes after it are not read as a request",
    arguments: [
      post("Content-Length: 26\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      post("Content-Length: 26\r\nContent-Length: 5\r\n"),
      post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
      post("Content-Length: -1\r\n"),
      post("Content-Length: 18446744073709551642\r\n"),
      post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff1\r\nx"),
      post("Transfer-Encoding: chunked\r\n", "zz\r\n"),
    ])
  func smuggling(_ request: String) throws {
    let hidden = Self.post("Content-Length: \(Self.query.utf8.count)\r\n")
    let (text, isClosed) = try exchange(request + hidden)
    // 501 is for an unknown transfer coding (RFC 9112, 6.1).
    #expect(text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 501"), "\(text)")
    #expect(!text.contains(Self.answer), "the gateway answered the bytes after it: \(text)")
    #expect(isClosed)
    try expectServes()
  }

  @Test(
    "a request that is not HTTP/1 is refused, with 505 if only its version is not supported",
    arguments: [
      ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", "400"), ("GET\r\n\r\n", "400"), ("POST /graphql HTTP/9.9\r\n\r\n", "505"),
      ("\u{0}\u{0}\u{0}\u{0}\r\n\r\n", "400"), ("POST /graphql HTTP/1.1\r\nHost: x\r\nA\u{0}b: c\r\n\r\n", "400"),
      ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
    ])
  func noise(_ noise: String, _ status: String) throws {
    let (text, isClosed) = try exchange(noise)
    #expect(text.hasPrefix("HTTP/1.1 \(status)") || text.isEmpty, "\(text)")
    #expect(isClosed)
    try expectServes()
  }

  @Test("a head that is too large, and one with too many fields, are answered with 431")
  func largeHead() throws {
    let large = try exchange(Self.post("X-Large: \(String(repeating: "a", count: 4000))\r\nContent-Length: 26\r\n"))
    #expect(large.text.hasPrefix("HTTP/1.1 431"), "\(large.text)")
    let many = try exchange(Self.post((0..<150).map { "X-\($0): 1\r\n" }.joined() + "Content-Length: 26\r\n"))
    #expect(many.text.hasPrefix("HTTP/1.1 431"), "\(many.text)")
    try expectServes()
  }

  @Test("a body that is too large is answered with 413, with or without a Content-Length")
  func largeBody() throws {
    let said = try exchange(Self.post("Content-Length: 5000\r\n", ""))
    #expect(said.text.hasPrefix("HTTP/1.1 413"), "\(said.text)")
    let chunk = String(repeating: "a", count: 1500)
    let pieces = "5dc\r\n\(chunk)\r\n5dc\r\n\(chunk)\r\n"
    let unsaid = try exchange(Self.post("Transfer-Encoding: chunked\r\n", pieces))
    #expect(unsaid.text.hasPrefix("HTTP/1.1 413"), "\(unsaid.text)")
    try expectServes()
  }

  @Test("a client that sends a head or a body one byte at a time is disconnected after a while")
  func slowLoris() throws {
    let head = try ClientSocket(port: gateway.port)
    let body = try ClientSocket(port: gateway.port)
    body.send(Self.post("Content-Length: 26\r\n", "{"))
    let start = ContinuousClock.now
    var isOpen = true
    while isOpen, ContinuousClock.now - start < .seconds(60) {
      isOpen = head.send("P")
      usleep(100_000)
    }
    #expect(!isOpen, "the head is still read after 60 seconds")
    #expect(body.read().text.hasPrefix("HTTP/1.1 408"))
    try expectServes()
  }

  @Test("a client that closes its sending direction is still answered")
  func halfClosed() throws {
    let client = try ClientSocket(port: gateway.port)
    client.send(Self.post("Content-Length: \(Self.query.utf8.count)\r\n"))
    client.finish()
    let (text, isClosed) = client.read()
    #expect(text.contains(Self.answer), "\(text)")
    #expect(isClosed)
  }

  @Test("requests sent at once are answered in their order")
  func pipelined() throws {
    let client = try ClientSocket(port: gateway.port)
    func request(_ seconds: Double) -> String {
      let body = "{\"query\":\"{ slow(seconds: \(seconds)) }\"}"
      return Self.post("Content-Length: \(body.utf8.count)\r\n", body)
    }
    client.send(request(0.3) + Self.post("Content-Length: \(Self.query.utf8.count)\r\n") + request(0.01))
    let text = client.read { $0.components(separatedBy: "HTTP/1.1 200").count == 4 && $0.hasSuffix("}") }.text
    let answers = text.components(separatedBy: "HTTP/1.1 200").dropFirst()
    #expect(answers.count == 3, "\(text)")
    #expect(answers.dropFirst().first?.contains(Self.answer) == true, "\(text)")
  }

  @Test("a client that offers another protocol is answered in HTTP/1.1, and its connection is closed")
  func upgrade() throws {
    let (text, isClosed) = try exchange(
      Self.post("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: \(Self.query.utf8.count)\r\n"))
    #expect(text.contains(Self.answer) && text.contains("Connection: close"), "\(text)")
    #expect(isClosed)
  }

  @Test("a client of HTTP/1.0 is answered, and its connection closed")
  func oldClient() throws {
    let request = Self.post("Content-Length: \(Self.query.utf8.count)\r\n").replacing("HTTP/1.1", with: "HTTP/1.0")
    let (text, isClosed) = try exchange(request)
    #expect(text.contains(Self.answer))
    #expect(isClosed)
  }

  @Test("a client that waits for 100 Continue receives it")
  func expectation() throws {
    let client = try ClientSocket(port: gateway.port)
    client.send(Self.post("Expect: 100-continue\r\nContent-Length: \(Self.query.utf8.count)\r\n", ""))
    #expect(client.read { $0.hasSuffix("\r\n\r\n") }.text.hasPrefix("HTTP/1.1 100"))
    client.send(Self.query)
    #expect(client.read { $0.contains(Self.answer) }.text.contains(Self.answer))
  }

  @Test("a client that goes in the middle of a subscription ends it upstream too")
  func goneInTheMiddle() async throws {
    let client = try ClientSocket(port: gateway.port)
    let body = #"{"query":"subscription { countdown(from: 1000, everyMilliseconds: 20) }"}"#
    client.send(Self.post("Accept: text/event-stream\r\nContent-Length: \(body.utf8.count)\r\n", body))
    #expect(client.read { $0.contains("\"countdown\":999") }.text.contains("\"countdown\":1000"))
    #expect(try await gateway.status()["operations"]?["running"]?.int == 1)
    client.hangUp()
    let start = ContinuousClock.now
    while try await gateway.status()["operations"]?["running"]?.int != 0, ContinuousClock.now - start < .seconds(60) {}
    #expect(try await gateway.status()["operations"]?["running"]?.int == 0)
  }

  /// The responses to many simultaneous clients, in the order of arrival. The first ones arrive while all allowed operations are
  /// held.
  private func crowd(
    of count: Int, _ folder: StoreFolder, _ arguments: [String], refused: Int
  ) async throws -> [RawAnswer] {
    let upstream = try HeldUpstream()
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
    return try await withThrowingTaskGroup(of: RawAnswer.self) { group in
      for _ in 0..<count {
        group.addTask { try await offThePool { try RawAnswer(gateway.endpoint, body: HeldUpstream.slow) } }
      }
      var answers: [RawAnswer] = []
      for try await answer in group {
        answers.append(answer)
        if answers.count == refused { upstream.open() }
      }
      return answers
    }
  }

  @Test("requests above the limit of running ones wait; above the waiting or per-client limit they are rejected")
  func overload() async throws {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nsettings: {timeout: 10m}\n", to: "chain.yaml")
    let crowd = try await crowd(of: 6, folder, ["--maximum-operations", "1", "--maximum-waiting", "1"], refused: 4)
    #expect(crowd.dropFirst(4).map(\.status) == [200, 200])
    for refusal in crowd.prefix(4) {
      #expect(refusal.status == 503 && refusal.head.contains("Retry-After: 1") && refusal.text.contains("OVERLOADED"))
    }
    let greedy = try await self.crowd(of: 3, folder, ["--maximum-per-client", "1"], refused: 2)
    #expect(greedy.map(\.status) == [429, 429, 200])
  }

  @Test("ten thousand idle connections are held, and others are served meanwhile")
  func idleConnections() async throws {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint, ["--receive-timeout", "10m", "--idle-timeout", "10m"])
    let before = try gateway.residentBytes()
    let clients = try await offThePool { try IdleClients(10_000, port: gateway.port) }
    let start = ContinuousClock.now
    while try await gateway.status()["connections"]?.int != 10_000, ContinuousClock.now - start < .seconds(180) {}
    #expect(try await gateway.status()["connections"] == 10_000)
    for _ in 0..<20 { #expect(try gateway.query("{ __typename }").text == Self.answer) }
    let each = (try gateway.residentBytes() - before) / 10_000
    #expect(each < 64 << 10, "an idle connection takes \(each) bytes")
    clients.hangUp()
    while try await gateway.status()["connections"] != 0, ContinuousClock.now - start < .seconds(300) {}
    #expect(try await gateway.status()["connections"] == 0)
    #expect(try gateway.query("{ __typename }").text == Self.answer)
  }
}
