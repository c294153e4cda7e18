import NIOCore
import NIOHTTP1
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerGateway

/// Responses that an HTTP/2 client does not read.
@Suite("HTTP/2: answers that wait")
struct HTTP2LimitTests {
  private typealias Kind = HTTP2Client.Kind

  private static let size = 50_000

  private func gateway(_ change: (inout GatewayLimits) -> Void) async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    change(&limits)
    return try await LocalGateway(RecordingHandler(text: String(repeating: "a", count: Self.size)), limits: limits)
  }

  @Test("a response that its client does not read is cancelled after a timeout, and the connection continues to serve")
  func deadline() async throws {
    let gateway = try await gateway { $0.sendTimeout = .milliseconds(300) }
    let client = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    for stream in [1, 3, 5] as [UInt32] { client.post(stream, "{}") }
    var resets: Set<UInt32> = []
    while resets.count < 3, let frame = client.next() {
      #expect(frame.kind != Kind.goAway)
      if frame.kind == Kind.reset { resets.insert(frame.stream) }
    }
    #expect(resets == [1, 3, 5])
    #expect(await eventually { gateway.unsent.waiting == 0 })
    client.head(7, [(":method", "HEAD"), (":scheme", "http"), (":path", "/"), (":authority", "a")], ends: true)
    let frame = try #require(client.next())
    #expect(frame.kind == Kind.headers && frame.stream == 7)
  }

  @Test("a client that reads its response slowly gets all of it")
  func slow() async throws {
    let gateway = try await gateway { _ in }
    let client = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    client.post(1, "{}")
    var length = 0
    while length < Self.size {
      client.send(Kind.windowUpdate, 0, 1, [0, 0, 0x30, 0])
      var taken = 0
      while taken < min(0x3000, Self.size - length), let frame = client.next() {
        #expect(frame.kind != Kind.reset)
        if frame.kind == Kind.data { taken += frame.payload.count }
      }
      length += taken
    }
    #expect(length == Self.size)
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("a connection with too many unsent bytes gets no further responses, and its requests are cancelled")
  func perConnection() async throws {
    let gateway = try await gateway { $0.maximumUnsentPerConnection = 2 * Self.size }
    let client = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    for stream in stride(from: UInt32(1), through: 39, by: 2) { client.post(stream, "{}") }
    var resets = 0
    while resets < 18, let frame = client.next() { if frame.kind == Kind.reset { resets += 1 } }
    #expect(resets == 18)
    #expect(gateway.unsent.waiting == 2 * Self.size)
    client.hangUp()
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("if all unsent bytes exceed the limit, the connection with the most gets GOAWAY and is closed")
  func inAll() async throws {
    let gateway = try await gateway { $0.maximumUnsent = 10 * Self.size }
    let modest = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    modest.post(1, "{}")
    while let frame = modest.next(), frame.kind != Kind.headers {}
    let clientLimitExceeded = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    for stream in stride(from: UInt32(1), through: 39, by: 2) { clientLimitExceeded.post(stream, "{}") }
    var last: HTTP2Client.Frame?
    while let frame = clientLimitExceeded.next() { last = frame }
    // ENHANCE_YOUR_CALM (RFC 9113, 7).
    #expect(last?.kind == Kind.goAway && last?.errorCode == 11, "\(String(describing: last))")
    #expect(await eventually { gateway.unsent.waiting == Self.size })
    #expect(gateway.connectionCount == 1)
  }
}
