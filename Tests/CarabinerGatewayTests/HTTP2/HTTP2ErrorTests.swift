import NIOCore
import NIOHTTP1
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerGateway

/// Errors of streams, and errors of connections (RFC 9113, 5.4).
@Suite("HTTP/2: errors")
struct HTTP2ErrorTests {
  private typealias Kind = HTTP2Client.Kind
  typealias Fields = [(String, String)]

  private static let good: Fields = [
    (":method", "POST"), (":scheme", "http"), (":path", "/graphql"), (":authority", "gateway"),
  ]

  private func gateway(_ change: (inout GatewayLimits) -> Void = { _ in }) async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    change(&limits)
    let handler = RecordingHandler { request, reply in
      reply.answer(.ok, [:], ByteBuffer(string: "host: \(request.header("host") ?? "none")"))
    }
    return try await LocalGateway(handler, limits: limits)
  }

  /// Checks that a connection still serves requests, and that a stream was reset once.
  private func expectServes(_ client: HTTP2Client, on stream: UInt32, resets: [UInt32: UInt8] = [:]) throws {
    client.head(stream, Self.good, ends: true)
    var seen: [UInt32: UInt8] = [:]
    while let frame = client.next() {
      #expect(frame.kind != Kind.goAway, "the connection ends: \(frame)")
      if frame.kind == Kind.reset {
        #expect(seen.updateValue(frame.errorCode ?? 0, forKey: frame.stream) == nil, "reset twice: \(frame)")
      }
      if frame.stream == stream, frame.endsStream { break }
    }
    #expect(seen == resets)
  }

  @Test(
    "a malformed request resets its stream, and the connection serves on (RFC 9113, 8.1.1)",
    arguments: [
      good + [("connection", "close")], good + [("te", "gzip")], good + [("X-Upper", "a")], good + [("x", "a\r\nb: c")],
      good + [(":path", "/b")], good + [(":late", "a")], Array(good.dropFirst()), [("a", "b")] + good,
      good + [("x", " a")], good + [("x", "a\t")], good + [("host", "other")],
      good + [("host", "gateway"), ("host", "gateway")], Array(good.dropLast()),
      Array(good.dropLast()) + [(":authority", "a b")], Array(good.dropLast()) + [(":authority", "user@a")],
      good + [("content-length", "x")], good + [("content-length", "1"), ("content-length", "2")],
      good + [("content-length", "3")],
    ] as [Fields])
  func malformed(_ fields: Fields) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, fields, ends: true)
    // PROTOCOL_ERROR.
    try expectServes(client, on: 3, resets: [1: 1])
  }

  @Test("Host may stand for the authority, and beside an equal one (RFC 9113, 8.3.1)", arguments: [good, Array(good.dropLast())])
  func host(_ fields: Fields) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, fields + [("host", "Gateway")], ends: true)
    var text = ""
    while let frame = client.next() {
      #expect(frame.kind != Kind.reset && frame.kind != Kind.goAway)
      if frame.kind == Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
      if frame.endsStream { break }
    }
    #expect(text == "host: Gateway" || text == "host: gateway")
  }

  @Test("CONNECT is refused, and the connection continues to serve (RFC 9113, 8.5)")
  func connect() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, [(":method", "CONNECT"), (":authority", "other:80")], ends: true)
    var text = ""
    while let frame = client.next() {
      #expect(frame.kind != Kind.reset && frame.kind != Kind.goAway)
      if frame.kind == Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
      if frame.endsStream { break }
    }
    #expect(text.contains("CONNECT is not supported"))
    try expectServes(client, on: 3)
  }

  @Test("a head above the limits is answered with 431, and the connection continues to serve")
  func largeHead() async throws {
    let gateway = try await gateway { $0.maximumHeadBytes = 2000 }
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    try expectServes(client, on: 1)
    let large = [("x", String(repeating: "a", count: 30_000))]
    let many = (0..<101).map { ("x-\($0)", "a") }
    for (stream, fields) in [(3, large), (5, many)] as [(UInt32, Fields)] {
      client.head(stream, Self.good + fields, ends: true)
      var text = ""
      while let frame = client.next() {
        #expect(frame.kind != Kind.goAway)
        if frame.stream == stream, frame.kind == Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
        if frame.stream == stream, frame.endsStream { break }
      }
      // The status itself is compressed.
      #expect(text.contains("REQUEST_HEADER_FIELDS_TOO_LARGE"), "\(text)")
    }
    try expectServes(client, on: 7)
  }

  @Test(
    "a connection error is answered with GOAWAY, and the connection is closed (RFC 9113, 5.4.1)",
    arguments: [
      (Kind.data, 0, 1, [1, 2, 3], 1), (Kind.headers, 4, 2, [0x82], 1), (Kind.headers, 4, 1, [0xFF, 0xFF], 9),
      (Kind.ping, 0, 0, [1], 6), (Kind.settings, 0, 0, [1], 6), (Kind.continuation, 4, 1, [0x82], 1),
      (Kind.windowUpdate, 0, 0, [0, 0, 0, 0], 1), (Kind.reset, 0, 1, [0, 0, 0, 8], 1),
    ] as [(UInt8, UInt8, UInt32, [UInt8], UInt8)])
  func connectionErrors(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8], _ code: UInt8) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.send(kind, flags, stream, payload)
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    #expect(last?.kind == Kind.goAway && last?.errorCode == code, "\(String(describing: last))")
  }

  @Test("a gateway that closes connections sends GOAWAY with the last request that it may have served (RFC 9113, 6.8)")
  func cutOff() async throws {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    let replies = HeldReplies()
    let gateway = try await LocalGateway(RecordingHandler { _, reply in replies.add(reply) }, limits: limits)
    let client = try HTTP2Client(port: gateway.port)
    client.post(1, "{}")
    client.post(3, "{}")
    while replies.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await gateway.shutDown(within: .milliseconds(1)) == false)
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    #expect(last?.kind == Kind.goAway && last?.payload.prefix(4) == [0, 0, 0, 3], "\(String(describing: last))")
  }

  @Test("the connection of a client that does not answer GOAWAY is closed")
  func silent() async throws {
    let gateway = try await gateway {
      $0.idleTimeout = .milliseconds(200)
      $0.keepAlive = .milliseconds(400)
    }
    let client = try ClientSocket(port: gateway.port)
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    client.send([0, 0, 0, Kind.settings, 0, 0, 0, 0, 0])
    // It reads GOAWAY and the ping behind it, and answers neither.
    var received: [UInt8] = []
    while let bytes = client.receive(patience: 60_000), !bytes.isEmpty { received += bytes }
    #expect(received.firstRange(of: [0, 0, 8, Kind.goAway, 0, 0, 0, 0, 0]) != nil, "\(received)")
    #expect(await eventually { gateway.connectionCount == 0 })
  }
}
