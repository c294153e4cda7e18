import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("HTTP/1.1 on a connection of the gateway")
struct HTTP1CodecTests {
  private let channel = EmbeddedChannel()

  init() throws {
    try channel.pipeline.syncOperations.addHandler(HTTP1Codec(limits: GatewayLimits()))
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
  }

  /// Writes the parts of a response, flushes them, and returns the buffers that were sent.
  private func sent(_ parts: ReplyPart...) throws -> [String] {
    for part in parts { channel.write(part, promise: nil) }
    channel.flush()
    var buffers: [String] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { buffers.append(String(buffer: buffer)) }
    return buffers
  }

  private func head(_ headers: HTTPHeaders, _ status: HTTPResponseStatus = .ok) -> ReplyPart {
    .head(ReplyHead(status: status, fields: ReplyFields(headers)))
  }

  private func body(_ text: String) -> ReplyPart { .body(ByteBuffer(string: text)) }

  @Test("head and body of a short response are one buffer, with the framing at the end of the head")
  func short() throws {
    let buffers = try sent(head(["Content-Length": "5", "X-A": "b"]), body("hello"), .end)
    #expect(buffers.joined() == "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello")
    #expect(buffers.filter { !$0.isEmpty }.count == 1)
  }

  @Test("a whole response is one buffer, unless its body is long", arguments: [0, 5, 100_000])
  func whole(count: Int) throws {
    let text = String(repeating: "x", count: count)
    guard case .head(let head) = head(["Content-Length": "\(count)"]) else { return }
    let buffers = try sent(.whole(head, ByteBuffer(string: text))).filter { !$0.isEmpty }
    #expect(buffers.joined() == "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(text)")
    #expect(buffers.count == (count > 16 << 10 ? 2 : 1))
  }

  @Test("a long body is not copied, and follows its head")
  func long() throws {
    let text = String(repeating: "x", count: 100_000)
    let buffers = try sent(head(["Content-Length": "100000"]), body(text), .end).filter { !$0.isEmpty }
    #expect(buffers == ["HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", text])
  }

  @Test("pieces of unknown length are chunks, short and long, and the response after them has its own framing")
  func chunks() throws {
    let long = String(repeating: "y", count: 20_000)
    let first = try sent(head(["Transfer-Encoding": "chunked"]), body("one"), body(""), body(long), .end)
    #expect(
      first.joined() == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n4e20\r\n\(long)\r\n0\r\n\r\n")
    #expect(try sent(head([:], .noContent), .end).joined() == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test("a whole response whose head cannot be written fails its promise, and closes the connection")
  func badWhole() throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let head = ReplyHead(status: .ok, fields: ["X-A": "b\r\nX-C: d"])
    channel.write(ReplyPart.whole(head, ByteBuffer(string: "x")), promise: promise)
    #expect(throws: (any Error).self) { try promise.futureResult.wait() }
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    #expect(!channel.isActive)
  }

  @Test("a response whose head cannot be written closes the connection, and nothing of it is sent")
  func badHead() throws {
    #expect(channel.isActive)
    channel.write(head(["X-A": "b\r\nX-C: d"]), promise: nil)
    channel.flush()
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
  }

  /// Sends bytes into the channel while the codec passes on a part, as a channel does whose flush fails.
  private final class Reentrant: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    var later: ByteBuffer?
    var targets: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      targets.append(head.uri)
      guard let later else { return }
      self.later = nil
      context.pipeline.fireChannelRead(later)
    }
  }

  @Test("bytes that arrive while others are passed on are read after them")
  func reentrant() throws {
    let reentrant = Reentrant()
    try channel.pipeline.syncOperations.addHandler(reentrant)
    reentrant.later = ByteBuffer(string: "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n")
    try channel.writeInbound(ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"))
    #expect(reentrant.targets == ["/1", "/2", "/3"])
  }

  @Test("the host of an absolute target replaces that of the field")
  func absoluteTarget() throws {
    try channel.writeInbound(ByteBuffer(string: "GET http://other:8080?q HTTP/1.1\r\nHost: h\r\n\r\n"))
    guard case .head(let head) = try channel.readInbound(as: HTTPServerRequestPart.self) else {
      Issue.record("there is no head")
      return
    }
    #expect(head.uri == "/?q" && head.headers["Host"] == ["other:8080"])
  }
}
