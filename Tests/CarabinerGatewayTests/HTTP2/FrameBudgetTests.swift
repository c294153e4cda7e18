import NIOCore
import ScriptedServer
import Testing

@testable import CarabinerGateway

@Suite("HTTP/2: frames that ask for nothing")
struct FrameBudgetTests {
  private typealias Kind = HTTP2Client.Kind

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private static func frame(_ kind: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), kind, 0, 0, 0, 0, 1] + payload
  }

  /// Whether the frames are within a budget of three, if they come in pieces of this size.
  private static func isWithin(_ frames: [[UInt8]], pieces size: Int, sent: Int = 0) -> Bool {
    var (heads, budget) = (FrameHeadReader(), FrameBudget(maximum: 3))
    for _ in 0..<sent { budget.sent() }
    let bytes = preface + frames.flatMap(\.self)
    for start in stride(from: 0, to: bytes.count, by: size) {
      heads.read(bytes[start..<min(start + size, bytes.count)].span) { budget.received($0) }
    }
    return budget.left >= 0
  }

  @Test("WINDOW_UPDATE, GOAWAY and unknown frames count, however the bytes are cut", arguments: [1, 5, 9, 1000])
  func counts(_ size: Int) {
    for kind in [7, 8, 11, 0x10, 200] as [UInt8] {
      for payload in [[], [1, 2, 3, 4], Array(repeating: kind, count: 300)] {
        let frame = Self.frame(kind, payload)
        #expect(Self.isWithin(Array(repeating: frame, count: 3), pieces: size))
        #expect(!Self.isWithin(Array(repeating: frame, count: 4), pieces: size))
        #expect(Self.isWithin(Array(repeating: frame, count: 13), pieces: size, sent: 1))
      }
    }
    let others = (0...12).filter { ![7, 8, 11].contains($0) }.map { Self.frame(UInt8($0), [0, 0, 4, 8]) }
    #expect(Self.isWithin(others + others, pieces: size))
  }

  @Test(
    "a connection with too many of them ends with ENHANCE_YOUR_CALM (RFC 9113, 10.5)",
    arguments: [(Kind.windowUpdate, [0, 0, 0, 1]), (Kind.goAway, Array(repeating: 0, count: 8)), (200, [])] as [(UInt8, [UInt8])])
  func flood(_ kind: UInt8, _ payload: [UInt8]) async throws {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    limits.maximumIdleFrames = 50
    let gateway = try await LocalGateway(RecordingHandler(text: "a"), limits: limits)
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    for _ in 0..<200 { client.send(kind, 0, 0, payload) }
    var last: HTTP2Client.Frame?
    while let frame = client.next() { last = frame }
    #expect(last?.kind == Kind.goAway && last?.errorCode == 11, "\(String(describing: last))")
  }
}
