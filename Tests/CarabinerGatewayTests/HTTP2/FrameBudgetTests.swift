import NIOCore
import ScriptedServer
import Testing

@testable import CarabinerGateway

@Suite("HTTP/2: floods of frames")
struct FrameBudgetTests {
  private typealias Kind = HTTP2Client.Kind

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private static func frame(_ kind: UInt8, _ payload: [UInt8] = [], flags: UInt8 = 0) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), kind, flags, 0, 0, 0, 1] + payload
  }

  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private static func budget(idle: Int = 3, resets: Int = 3, head: Int = 32 << 10) -> FrameBudget {
    var limits = GatewayLimits()
    limits.maximumIdleFrames = idle
    limits.maximumResets = resets
    limits.maximumHeadBytes = head
    return FrameBudget(limits)
  }

  /// Whether the frames are within a budget of three, if they come in pieces of this size.
  private static func isWithin(_ frames: [[UInt8]], pieces size: Int, sent: Int = 0) -> Bool {
    var (heads, budget) = (FrameHeadReader(), budget())
    for _ in 0..<sent { budget.sent() }
    let bytes = preface + frames.flatMap(\.self)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      var position = 0
      while let head = heads.next(piece.span, &position) { budget.received(head, at: Self.start) }
    }
    return !budget.isExceeded
  }

  @Test("WINDOW_UPDATE, GOAWAY and unknown frames count, however the bytes are cut", arguments: [1, 5, 9, 1000])
  func counts(_ size: Int) {
    for kind in [7, 8, 10, 11, 12, 0x10, 200] as [UInt8] {
      for payload in [[], [1, 2, 3, 4], Array(repeating: kind, count: 300)] {
        let frame = Self.frame(kind, payload)
        #expect(Self.isWithin(Array(repeating: frame, count: 3), pieces: size))
        #expect(!Self.isWithin(Array(repeating: frame, count: 4), pieces: size))
        #expect(Self.isWithin(Array(repeating: frame, count: 13), pieces: size, sent: 1))
      }
    }
    let others = [0, 1, 2, 3, 4, 5, 6, 9].map { Self.frame($0, [0, 0, 4, 8]) }
    #expect(Self.isWithin(others + others, pieces: size))
  }

  @Test("frames with data or a part of a head count if they are empty")
  func empty() {
    func isWithin(_ count: Int, _ frame: [UInt8]) -> Bool { Self.isWithin(Array(repeating: frame, count: count), pieces: 100) }
    let padded = Self.frame(Kind.data, [0], flags: FrameHead.Flag.isPadded)
    for frame in [Self.frame(Kind.data), padded, Self.frame(Kind.continuation)] {
      #expect(isWithin(3, frame) && !isWithin(4, frame))
    }
    // They end a request.
    #expect(isWithin(100, Self.frame(Kind.data, flags: FrameHead.Flag.endsStream)))
    #expect(isWithin(100, Self.frame(Kind.data, [1])))
  }

  private static func isWithin(_ count: Int, _ kind: UInt8, _ budget: FrameBudget, every time: TimeAmount = .zero) -> Bool {
    var (budget, now) = (budget, start)
    for _ in 0..<count {
      budget.received(FrameHead(length: 4, kind: kind, stream: 1), at: now)
      now = now + time
    }
    return !budget.isExceeded
  }

  @Test("frames that ask for an answer, and resets, count within a time")
  func windows() {
    for kind in [2, 4, 6] as [UInt8] {
      #expect(Self.isWithin(FrameBudget.maximumControls, kind, Self.budget()))
      #expect(!Self.isWithin(FrameBudget.maximumControls + 1, kind, Self.budget()))
      #expect(Self.isWithin(10 * FrameBudget.maximumControls, kind, Self.budget(), every: .milliseconds(151)))
    }
    #expect(Self.isWithin(3, Kind.reset, Self.budget()) && !Self.isWithin(4, Kind.reset, Self.budget()))
    #expect(Self.isWithin(30, Kind.reset, Self.budget(), every: .seconds(11)))
    // Those of the server count too.
    var budget = Self.budget()
    budget.received(FrameHead(length: 4, kind: Kind.reset, stream: 1), at: Self.start)
    for _ in 0..<2 { budget.reset(at: Self.start) }
    #expect(!budget.isExceeded)
    budget.reset(at: Self.start)
    #expect(budget.isExceeded)
  }

  @Test("a head has eight CONTINUATION frames, or as many as a larger one needs")
  func continuations() {
    #expect(Self.isWithin(8, Kind.continuation, Self.budget()) && !Self.isWithin(9, Kind.continuation, Self.budget()))
    // Four times the limit are read, in frames of 16 KiB.
    let large = Self.budget(head: 256 << 10)
    #expect(Self.isWithin(72, Kind.continuation, large) && !Self.isWithin(73, Kind.continuation, large))
    var next = Self.budget()
    for _ in 0..<5 {
      next.received(FrameHead(length: 4, kind: Kind.headers, stream: 1), at: Self.start)
      for _ in 0..<8 { next.received(FrameHead(length: 4, kind: Kind.continuation, stream: 1), at: Self.start) }
    }
    #expect(!next.isExceeded)
  }

  @Test(
    "a connection with too many of them ends with ENHANCE_YOUR_CALM (RFC 9113, 10.5)",
    arguments: [
      (Kind.windowUpdate, [0, 0, 0, 1]), (Kind.goAway, Array(repeating: 0, count: 8)), (200, []),
      (Kind.ping, Array(repeating: 0, count: 8)), (Kind.settings, [0, 4, 0, 0, 1, 0]),
    ] as [(UInt8, [UInt8])])
  func flood(_ kind: UInt8, _ payload: [UInt8]) async throws {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    limits.maximumIdleFrames = 50
    let gateway = try await LocalGateway(RecordingHandler(text: "a"), limits: limits)
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    for _ in 0..<300 { client.send(kind, 0, 0, payload) }
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    #expect(last?.kind == Kind.goAway && last?.errorCode == 11, "\(String(describing: last))")
  }

  @Test("a connection whose client provokes many resets ends with ENHANCE_YOUR_CALM")
  func provokedResets() async throws {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    limits.maximumResets = 50
    let gateway = try await LocalGateway(RecordingHandler(text: "a"), limits: limits)
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let malformed = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "a"), ("te", "gzip")]
    for stream in stride(from: UInt32(1), to: 200, by: 2) { client.head(stream, malformed) }
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    #expect(last?.kind == Kind.goAway && last?.errorCode == 11, "\(String(describing: last))")
  }
}
