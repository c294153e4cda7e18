import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("Request bodies that arrive in small parts")
struct ReceivedBodyTests {
  @Test("a part is added to its body without a copy of the earlier ones")
  func inPlace() throws {
    let received = HeldBodies()
    let limits = GatewayLimits()
    let handler = ConnectionHandler(
      RecordingHandler { request, _ in received.bodies.append(String(buffer: request.body)) }, CurrentSettings(limits: limits),
      clock: ConnectionClock(EmbeddedEventLoop(), limits, SharedTimers()),
      connections: OpenConnections(unsent: UnsentTotal(limits)))
    let channel = EmbeddedChannel(handler: handler)
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
    var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
    head.headers = ["Host": "a", "Transfer-Encoding": "chunked"]
    try channel.writeInbound(RequestPart.head(RequestHead(head)))
    try channel.writeInbound(RequestPart.body(ByteBuffer(string: String(repeating: "a", count: 10_000))))
    var moves = StorageMoves()
    for _ in 0..<2000 {
      try channel.writeInbound(RequestPart.body(ByteBuffer(string: "b")))
      moves.look(at: handler.input.body)
    }
    // The storage doubles when it is full.
    #expect(moves.count <= 2)
    try channel.writeInbound(RequestPart.end)
    #expect(received.bodies == [String(repeating: "a", count: 10_000) + String(repeating: "b", count: 2000)])
    #expect(handler.input.body.readableBytes == 0)
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  /// Used by one thread.
  private final class HeldBodies: @unchecked Sendable {
    var bodies: [String] = []
  }

  @Test("small pieces of an upload that wait are joined, so that they take no more memory than their bytes")
  func smallPieces() async throws {
    let body = InboundBody {}
    let text = (0..<20_000).map { String($0 % 10) }.joined()
    for character in text { body.add(ByteBuffer(string: String(character))) }
    body.add(ByteBuffer(string: String(repeating: "l", count: 10_000)))
    body.add(ByteBuffer(string: "s"))
    body.end(.success(()))
    var pieces: [String] = []
    while let piece = try await body.next() { pieces.append(String(buffer: piece)) }
    #expect(pieces.count <= text.utf8.count / InboundBody.smallPiece + 3)
    #expect(pieces.joined() == text + String(repeating: "l", count: 10_000) + "s")
  }
}
