import FoundationEssentials
import NIOCore
import NIOHTTP1
import TestTools
import Testing

@testable import CarabinerGateway

/// Requests that a client sends before it has the responses to earlier ones (RFC 9112, 9.3.2).
@Suite("Pipelined requests")
struct PipeliningTests {
  private static func get(_ path: String, _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: gateway\r\n\(fields)\r\n"
  }

  private static let bad = "\u{0}\u{1}\r\n\r\n"

  @Test("a client that does not read is served one request, and no more input is read from it")
  func unreadAnswers() throws {
    let handler = RecordingHandler(text: String(repeating: "a", count: 100))
    let gateway = try EmbeddedGateway(handler)
    gateway.stall()
    try gateway.send((1...50).map { Self.get("/\($0)") }.joined())
    #expect(handler.requests.map(\.head.target) == ["/1"])
    let reads = gateway.reads
    try gateway.send(Self.get("/51"))
    try gateway.send(Self.get("/52"))
    #expect(gateway.reads == reads, "it reads on while its answers are not taken")
    gateway.takeAll()
    #expect(handler.requests.map(\.head.target) == (1...52).map { "/\($0)" })
    #expect(gateway.reads > reads, "it does not read again")
    #expect(try gateway.received().matches(of: /HTTP\/1.1 200/).count == 52)
  }

  @Test("a client that does not read its response is disconnected after a timeout, and one that reads a little is not")
  func sendDeadline() throws {
    var limits = GatewayLimits()
    limits.sendTimeout = .seconds(10)
    let handler = RecordingHandler(text: String(repeating: "a", count: 1 << 20))
    let slow = try EmbeddedGateway(handler, limits: limits)
    slow.stall()
    try slow.send(Self.get("/"))
    #expect(slow.unsent == 1 << 20)
    // The head of the response.
    slow.take(1)
    for _ in 0..<8 {
      slow.wait(.seconds(9))
      #expect(slow.isOpen)
      slow.take(1)
    }
    slow.takeAll()
    #expect(slow.unsent == 0)
    #expect(slow.isOpen)
    let silent = try EmbeddedGateway(handler, limits: limits)
    silent.stall()
    try silent.send(Self.get("/"))
    silent.wait(.seconds(11))
    silent.run()
    #expect(!silent.isOpen)
    #expect(silent.unsent == 0)
  }

  @Test(
    "a client that takes nothing is closed also after its last answer, a refusal, and in the middle of an answer in pieces",
    arguments: [get("/", "Connection: close\r\n"), bad, get("/pieces")])
  func sendDeadlineOfAll(_ request: String) async throws {
    var limits = GatewayLimits()
    limits.sendTimeout = .seconds(10)
    let handler = RecordingHandler { request, reply in
      guard request.path == "/pieces" else { return reply.answer(.ok, [:], ByteBuffer(string: "a")) }
      reply.begin(.ok, [:])
      reply.endWith(ByteBuffer(string: String(repeating: "a", count: 1000)))
    }
    let gateway = try EmbeddedGateway(handler, limits: limits)
    gateway.stall()
    try gateway.send(request)
    gateway.wait(.seconds(9))
    #expect(gateway.isOpen)
    gateway.wait(.seconds(12))
    gateway.run()
    #expect(!gateway.isOpen)
  }

  @Test("pieces that are added do not extend the time of a client that takes nothing")
  func sendDeadlineOfPieces() throws {
    var limits = GatewayLimits()
    limits.sendTimeout = .seconds(10)
    let replies = HeldReplies()
    let gateway = try EmbeddedGateway(RecordingHandler { _, reply in replies.add(reply) }, limits: limits)
    gateway.stall()
    try gateway.send(Self.get("/"))
    let reply = try #require(replies.next())
    reply.begin(.ok, [:])
    for _ in 0..<4 {
      #expect(gateway.isOpen)
      reply.send(.body(ByteBuffer(string: "a")), reply.channel.eventLoop.makePromise())
      gateway.run()
      gateway.wait(.seconds(3))
    }
    gateway.run()
    #expect(!gateway.isOpen)
    #expect(gateway.unsent == 0)
  }

  @Test("a request in progress is answered before the invalid bytes after it are refused")
  func badBytes() throws {
    let replies = HeldReplies()
    let gateway = try EmbeddedGateway(RecordingHandler { _, reply in replies.add(reply) })
    try gateway.send(Self.get("/1") + Self.get("/2") + Self.bad)
    for text in ["first", "second"] {
      let reply = try #require(replies.next())
      reply.answer(.ok, [:], ByteBuffer(string: text))
      gateway.run()
    }
    let text = try gateway.received()
    let answers = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
    #expect(answers.map { $0.prefix(3) } == ["200", "200", "400"], "\(text)")
    #expect(answers.first?.hasSuffix("first") == true && answers.dropFirst().first?.hasSuffix("second") == true, "\(text)")
  }

  @Test("input after the last request of a connection is ignored, also if it is invalid (RFC 9112, 9.6)")
  func badBytesBehindClose() throws {
    let replies = HeldReplies()
    let gateway = try EmbeddedGateway(RecordingHandler { _, reply in replies.add(reply) })
    try gateway.send(Self.get("/1", "Connection: close\r\n") + Self.bad)
    try gateway.send(Self.get("/2"))
    try #require(replies.next()).answer(.ok, [:], ByteBuffer(string: "first"))
    gateway.run()
    let text = try gateway.received()
    #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("first"), "\(text)")
    #expect(replies.count == 0)
    #expect(!gateway.isOpen)
  }

  @Test("a client that sends several requests and then no more gets all answers")
  func halfClosed() throws {
    let replies = HeldReplies()
    let gateway = try EmbeddedGateway(RecordingHandler { _, reply in replies.add(reply) })
    try gateway.send(Self.get("/1") + Self.get("/2") + Self.get("/3"))
    gateway.finish()
    for _ in 0..<3 {
      #expect(gateway.isOpen)
      try #require(replies.next()).answer(.ok, [:], ByteBuffer(string: "a"))
      gateway.run()
    }
    #expect(try gateway.received().matches(of: /HTTP\/1.1 200/).count == 3)
    #expect(!gateway.isOpen)
  }

  @Test("a gateway that shuts down lets its clients read the responses that are written")
  func drain() throws {
    let gateway = try EmbeddedGateway(RecordingHandler(text: String(repeating: "a", count: 1 << 20)))
    gateway.stall()
    try gateway.send(Self.get("/"))
    gateway.drain()
    #expect(gateway.isOpen)
    gateway.takeAll()
    #expect(try gateway.received().utf8.count > 1 << 20)
    // The head of the response has said that the connection stays open.
    #expect(gateway.isOpen)
    gateway.wait(.seconds(1))
    #expect(!gateway.isOpen)
  }

  @Test(
    "a response that has said that its connection stays open is followed by one more, which says that it closes",
    .rule("gateway.26"))
  func promised() throws {
    let gateway = try EmbeddedGateway(RecordingHandler(text: String(repeating: "a", count: 1 << 20)))
    gateway.stall()
    try gateway.send(Self.get("/"))
    gateway.drain()
    gateway.takeAll()
    #expect(try !gateway.received().contains("Connection: close"))
    try gateway.send(Self.get("/"))
    #expect(try gateway.received().contains("Connection: close"))
    #expect(!gateway.isOpen)
  }

  @Test(
    "when the listeners close, a connection that was just used has a second for a last request; an older one is closed",
    .rule("gateway.26"))
  func lastRequest() throws {
    for isFresh in [true, false] {
      let used = try EmbeddedGateway(RecordingHandler(text: "a"))
      if !isFresh { try used.send(Self.get("/")) }
      used.wait(.milliseconds(900))
      used.drain()
      #expect(used.isOpen)
      _ = try used.received()
      try used.send(Self.get("/"))
      #expect(try used.received().contains("Connection: close"))
      #expect(!used.isOpen)
      let silent = try EmbeddedGateway(RecordingHandler(text: "a"))
      if !isFresh { try silent.send(Self.get("/")) }
      silent.drain()
      silent.wait(.milliseconds(999))
      #expect(silent.isOpen)
      silent.wait(.milliseconds(1))
      #expect(!silent.isOpen)
      let idle = try EmbeddedGateway(RecordingHandler(text: "a"))
      if !isFresh { try idle.send(Self.get("/")) }
      idle.wait(.milliseconds(1001))
      idle.drain()
      #expect(!idle.isOpen)
    }
  }

  @Test("a second request may take as long as the first, and no longer")
  func receiveTimeout() throws {
    var limits = GatewayLimits()
    limits.receiveTimeout = .seconds(5)
    limits.idleTimeout = .seconds(100)
    let gateway = try EmbeddedGateway(RecordingHandler(text: "a"), limits: limits)
    try gateway.send(Self.get("/"))
    gateway.wait(.seconds(50))
    #expect(gateway.isOpen)
    _ = try gateway.received()
    try gateway.send("POST / HTTP/1.1\r\nHost: gateway\r\nContent-Length: 5\r\n\r\n")
    gateway.wait(.seconds(6))
    #expect(try gateway.received().hasPrefix("HTTP/1.1 408"))
  }
}
