import NIOCore
import NIOHTTP1
import ScriptedServer
import Testing

@testable import CarabinerGateway

/// Frames after the end of a stream, and heads in several frames, from clients that break the protocol or use its limits.
@Suite("HTTP/2: ended streams, and heads in several frames")
struct HTTP2EndedStreamTests {
  private typealias Kind = HTTP2Client.Kind
  typealias Fields = [(String, String)]

  /// Frames that a client sends after the end of its request.
  enum Late: CaseIterable, Sendable {
    case data, head, trailers, unfinishedTrailers, headInTwoFrames

    func send(_ client: HTTP2Client, on stream: UInt32) {
      switch self {
      case .data: client.send(Kind.data, 0, stream, [1, 2, 3])
      case .head: client.head(stream, good, ends: true)
      case .trailers: client.head(stream, [("checksum", "a")], ends: true)
      case .unfinishedTrailers: client.head(stream, [("checksum", "a")])
      case .headInTwoFrames: client.head(stream, good, ends: true, inFramesOf: 60)
      }
    }
  }

  /// How a client ends its request.
  enum Ending: CaseIterable, Sendable {
    case head, data, trailers, reset

    func send(_ client: HTTP2Client, on stream: UInt32, _ fields: Fields = good) {
      client.head(stream, fields, ends: self == .head)
      switch self {
      case .head: break
      case .data: client.send(Kind.data, 1, stream, [1])
      case .trailers: client.head(stream, [("checksum", "a")], ends: true)
      case .reset: client.reset(stream)
      }
    }
  }

  private static let good: Fields = [
    (":method", "POST"), (":scheme", "http"), (":path", "/graphql"), (":authority", "gateway"),
  ]
  private static let held: Fields = good.map { $0.0 == ":path" ? ($0.0, "/held") : $0 }

  private static let streamClosed: UInt8 = 5
  private static let protocolError: UInt8 = 1
  private static let compressionError: UInt8 = 9
  private static let enhanceYourCalm: UInt8 = 11

  private let replies = HeldReplies()

  private func gateway() async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    let replies = replies
    return try await LocalGateway(
      RecordingHandler { request, reply in
        if request.path == "/held" { return replies.add(reply) }
        reply.answer(.ok, [:], ByteBuffer(string: "tail: \(request.header("tail") ?? "none")"))
      }, limits: limits)
  }

  /// Reads the response on a stream, and checks that no other frames come before its end than those given.
  private func text(
    _ client: HTTP2Client, on stream: UInt32, resets: [UInt32: UInt8] = [:], location: SourceLocation = #_sourceLocation
  ) -> String? {
    var (text, seen): (String, [UInt32: UInt8]) = ("", [:])
    while let frame = client.next() {
      #expect(frame.kind != Kind.goAway, "the connection ends: \(frame)", sourceLocation: location)
      if frame.kind == Kind.reset {
        let isFirst = seen.updateValue(frame.errorCode ?? 0, forKey: frame.stream) == nil
        #expect(isFirst, "reset twice: \(frame)", sourceLocation: location)
      }
      guard frame.stream == stream else { continue }
      if frame.kind == Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
      guard frame.endsStream else { continue }
      #expect(seen == resets, sourceLocation: location)
      return text
    }
    return nil
  }

  /// The code of the GOAWAY frame with which the connection ends; nil if it ends without one.
  private func lastCode(_ client: HTTP2Client) -> UInt8? {
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    return last?.kind == Kind.goAway ? last?.errorCode : nil
  }

  // MARK: Ended streams

  @Test(
    "frames for a request that is complete and not answered end the connection with STREAM_CLOSED (RFC 9113, 5.1)",
    arguments: Late.allCases, [Ending.head, .data, .trailers])
  func halfClosed(_ late: Late, _ ending: Ending) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    ending.send(client, on: 1, Self.held)
    late.send(client, on: 1)
    client.head(3, Self.good, ends: true)
    #expect(lastCode(client) == Self.streamClosed)
    // The frames are neither a second request nor a part of the first one.
    #expect(replies.count <= 1)
  }

  @Test(
    "frames for a stream that both sides have closed end the connection with STREAM_CLOSED (RFC 9113, 5.1)",
    arguments: Late.allCases, Ending.allCases)
  func closed(_ late: Late, _ ending: Ending) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    ending.send(client, on: 1, ending == .reset ? Self.held : Self.good)
    if ending != .reset { #expect(text(client, on: 1) == "tail: none") }
    late.send(client, on: 1)
    #expect(lastCode(client) == Self.streamClosed)
  }

  @Test("frames for a request that is being answered end the connection with STREAM_CLOSED too", arguments: Late.allCases)
  func answered(_ late: Late) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway, window: 0)
    client.head(1, Self.good, ends: true)
    while let frame = client.next(), frame.kind != Kind.headers {}
    // The head of the response was sent, and its body waits for the window.
    late.send(client, on: 1)
    #expect(lastCode(client) == Self.streamClosed)
  }

  @Test("data and trailers that a client sends before it knows that its stream was reset are ignored (RFC 9113, 5.1)")
  func resetByServer() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.good + [("x", " a")])
    #expect(client.next()?.kind == Kind.reset)
    client.send(Kind.data, 0, 1, [1, 2, 3])
    client.head(1, [("checksum", "a")], ends: true)
    client.head(3, Self.good, ends: true)
    #expect(text(client, on: 3) == "tail: none")
  }

  @Test("a request on a stream that was left out ends the connection with PROTOCOL_ERROR (RFC 9113, 5.1.1)")
  func leftOut() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(5, Self.good, ends: true)
    #expect(text(client, on: 5) == "tail: none")
    client.head(3, Self.good, ends: true)
    #expect(lastCode(client) == Self.protocolError)
  }

  private static func error(
    of stream: UInt32, _ kind: UInt8 = Kind.headers, in streams: EndedStreams
  ) -> HTTP2ErrorCode? { streams.error(of: FrameHead(kind: kind, stream: stream)) }

  @Test("of many ended streams, only the last ones are remembered")
  func memory() {
    var ended = EndedStreams()
    let streams = (0...UInt32(EndedStreams.maximum)).map { 2 * $0 + 1 }
    for stream in streams {
      ended.opened(stream)
      ended.endedByClient(stream)
    }
    #expect(streams.dropFirst().allSatisfy { Self.error(of: $0, in: ended) == .streamClosed })
    #expect(streams.dropFirst().allSatisfy { Self.error(of: $0, Kind.data, in: ended) == .streamClosed })
    // The first one has made place for the last one.
    #expect(Self.error(of: streams[0], in: ended) == .protocolError && Self.error(of: streams[0], Kind.data, in: ended) == nil)
    // A stream that was not opened has not ended.
    #expect(Self.error(of: ended.highest + 2, in: ended) == nil)
  }

  @Test("frames for a stream that its client has not ended are ignored, and those for one that was left out are an error")
  func reset() {
    var ended = EndedStreams()
    ended.opened(1)
    ended.opened(5)
    #expect(Self.error(of: 1, in: ended) == nil && Self.error(of: 1, Kind.data, in: ended) == nil)
    #expect(Self.error(of: 3, in: ended) == .protocolError && Self.error(of: 3, Kind.data, in: ended) == nil)
    ended.endedByClient(3)
    ended.endedByClient(1)
    #expect(Self.error(of: 1, Kind.data, in: ended) == .streamClosed && Self.error(of: 5, in: ended) == nil)
  }

  // MARK: Heads in several frames

  @Test("a head may be cut into two frames anywhere (RFC 9113, 6.10)")
  func cutAnywhere() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let fields = Self.good + [("tail", "é")]
    let block = HTTP2Client.block(fields)
    for cut in 0...block.count {
      let stream = UInt32(2 * cut + 1)
      client.send(Kind.headers, 0x1, stream, Array(block[..<cut]))
      client.send(Kind.continuation, 0x4, stream, Array(block[cut...]))
      #expect(text(client, on: stream) == "tail: é", "cut at \(cut)")
    }
  }

  @Test(
    "a head in frames of one byte ends the connection with ENHANCE_YOUR_CALM, as one in empty frames (RFC 9113, 10.5)",
    arguments: [1, 0])
  func manyFrames(_ size: Int) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let block = HTTP2Client.block(Self.good)
    client.send(Kind.headers, 0x1, 1, Array(block.prefix(size)))
    for byte in block { client.send(Kind.continuation, 0, 1, size == 0 ? [] : [byte]) }
    #expect(lastCode(client) == Self.enhanceYourCalm)
  }

  /// Fields with this number of bytes in all.
  private static func fields(_ bytes: Int) -> Fields {
    (0..<(bytes / 4000)).map { ("x-\($0)", String(repeating: "a", count: 4000)) }
  }

  @Test("a head of 100 KiB is answered with 431, and a larger one than the gateway reads ends the connection")
  func largeHeads() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.good + Self.fields(100 << 10), ends: true)
    #expect(text(client, on: 1)?.contains("REQUEST_HEADER_FIELDS_TOO_LARGE") == true)
    client.head(3, Self.good, ends: true)
    #expect(text(client, on: 3) == "tail: none")
    client.head(5, Self.good + Self.fields(300 << 10), ends: true)
    #expect(lastCode(client) == Self.enhanceYourCalm)
  }

  @Test("a field of more than 64 KiB ends the connection with COMPRESSION_ERROR, which is a limit of nghttp2")
  func largeField() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.good + [("x", String(repeating: "a", count: 100 << 10))], ends: true)
    #expect(lastCode(client) == Self.compressionError)
  }

  @Test("a small head that becomes larger than the gateway reads ends the connection")
  func expandingHead() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let size = 3840
    // With a place in the table, to which the rest of the head refers. The length is written in three bytes (RFC 7541, 5.1).
    var block = HTTP2Client.block(Self.good) + [0x40, 1, UInt8(ascii: "x")]
    block += [0x7F, UInt8((size - 127) & 0x7F | 0x80), UInt8((size - 127) >> 7)] + [UInt8](repeating: 0x61, count: size)
    block += [UInt8](repeating: 0x80 | 62, count: 200)
    client.send(Kind.headers, 0x5, 1, block)
    #expect(lastCode(client) == Self.enhanceYourCalm)
  }

  @Test(
    "within a head, a frame of another stream or kind ends the connection with PROTOCOL_ERROR (RFC 9113, 6.10)",
    arguments: [
      (Kind.continuation, 3), (Kind.headers, 1), (Kind.headers, 3), (Kind.data, 1), (Kind.ping, 0), (Kind.windowUpdate, 1),
      (Kind.continuation, 0), (200, 1),
    ] as [(UInt8, UInt32)])
  func interleaved(_ kind: UInt8, _ stream: UInt32) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let block = HTTP2Client.block(Self.good)
    client.send(Kind.headers, 0x1, 1, Array(block.prefix(20)))
    client.send(kind, kind == Kind.ping ? 0 : 0x4, stream, Array(block.dropFirst(20).prefix(8)))
    #expect(lastCode(client) == Self.protocolError)
  }
}
