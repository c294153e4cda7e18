import Carabiner
import CarabinerHTTP1
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

  private func head(
    _ framing: MessageWriter.Framing, _ fields: ReplyFields = [:], _ status: HTTPResponseStatus = .ok
  ) -> ReplyHead {
    ReplyHead(status: status, fields: fields, framing: framing)
  }

  private func body(_ text: String) -> ReplyPart { .body(ByteBuffer(string: text)) }

  @Test("head and body of a short response are one buffer, with the framing at the end of the head")
  func short() throws {
    let buffers = try sent(.head(head(.length(5), ["X-A": "b"])), body("hello"), .end)
    #expect(buffers.joined() == "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello")
    #expect(buffers.filter { !$0.isEmpty }.count == 1)
  }

  @Test("a whole response is one buffer, unless its body is long", arguments: [0, 5, 100_000])
  func whole(count: Int) throws {
    let text = String(repeating: "x", count: count)
    let buffers = try sent(.whole(head(.length(count)), ByteBuffer(string: text))).filter { !$0.isEmpty }
    #expect(buffers.joined() == "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(text)")
    #expect(buffers.count == (count > 16 << 10 ? 2 : 1))
  }

  @Test("a long body is not copied, and follows its head")
  func long() throws {
    let text = String(repeating: "x", count: 100_000)
    let buffers = try sent(.head(head(.length(100_000))), body(text), .end).filter { !$0.isEmpty }
    #expect(buffers == ["HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", text])
  }

  @Test("pieces of unknown length are chunks, short and long, and the response after them has its own framing")
  func chunks() throws {
    let long = String(repeating: "y", count: 20_000)
    let first = try sent(.head(head(.chunked)), body("one"), body(""), body(long), .end)
    #expect(
      first.joined() == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n4e20\r\n\(long)\r\n0\r\n\r\n")
    #expect(try sent(.head(head(.none, [:], .noContent)), .end).joined() == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test("a whole response whose head cannot be written fails its promise, and closes the connection")
  func badWhole() throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let part = ReplyPart.whole(head(.length(1), ["X-A": "b\r\nX-C: d"]), ByteBuffer(string: "x"))
    channel.write(part, promise: promise)
    #expect(throws: (any Error).self) { try promise.futureResult.wait() }
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    #expect(!channel.isActive)
  }

  @Test("a response whose head cannot be written closes the connection, and nothing of it is sent")
  func badHead() throws {
    #expect(channel.isActive)
    channel.write(ReplyPart.head(head(.none, ["X-A": "b\r\nX-C: d"])), promise: nil)
    channel.flush()
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
  }

  /// Sends bytes into the channel while the codec passes on a part, as a channel does whose flush fails.
  private final class Reentrant: ChannelInboundHandler {
    typealias InboundIn = RequestPart

    var later: ByteBuffer?
    var targets: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .whole(let head, _) = unwrapInboundIn(data) else { return }
      targets.append(head.target)
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
    guard case .whole(let head, _) = try channel.readInbound(as: RequestPart.self) else {
      Issue.record("there is no request")
      return
    }
    #expect(head.target == "/?q" && head.headers.values(for: "Host") == ["other:8080"])
  }

  /// The parts of requests in short form.
  private func received() throws -> [String] {
    var parts: [String] = []
    while let part = try channel.readInbound(as: RequestPart.self) {
      switch part {
      case .head(let head): parts.append("head \(head.target)")
      case .body(let bytes): parts.append("body \(String(buffer: bytes))")
      case .end: parts.append("end")
      case .whole(let head, let body): parts.append("whole \(head.target) \(String(buffer: body))")
      }
    }
    return parts
  }

  @Test("a request that arrives at once is one part, and one that does not is a head, pieces and an end")
  func wholeRequests() throws {
    let post = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
    try channel.writeInbound(ByteBuffer(string: post + "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n" + post.dropLast(2)))
    #expect(try received() == ["whole /1 hello", "whole /2 ", "head /1", "body hel"])
    try channel.writeInbound(ByteBuffer(string: "lo" + post))
    #expect(try received() == ["body lo", "end", "whole /1 hello"])
  }

  @Test("a request in chunks, and one that waits for 100 Continue, is passed on in pieces")
  func requestsInPieces() throws {
    let chunks = "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: chunks))
    #expect(try received() == ["head /1", "body hello", "end"])
    let waiting = "POST /2 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"
    try channel.writeInbound(ByteBuffer(string: waiting))
    #expect(try received() == ["head /2", "body hi", "end"])
  }
}
