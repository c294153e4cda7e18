import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import CarabinerGateway

@Suite("The choice between HTTP/1.1 and HTTP/2")
struct ProtocolChoiceTests {
  /// Reads again while the first bytes are handled, as a channel does after a failed flush.
  private final class ReentrantReader: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// For each installation: whether it was HTTP/2.
    let installed = Mutex<[Bool]>([])
    let received = Mutex("")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let isFirst = received.withLock { received in
        defer { received += String(buffer: unwrapInboundIn(data)) }
        return received.isEmpty
      }
      if isFirst { context.pipeline.fireChannelRead(ByteBuffer(string: "read in a flush")) }
    }
  }

  @Test(
    "a protocol is installed once, also if the channel reads again meanwhile",
    arguments: [("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true), ("POST / HTTP/1.1\r\n\r\n", false)])
  func reentrantRead(_ first: String, _ isHTTP2: Bool) throws {
    let reader = ReentrantReader()
    let channel = EmbeddedChannel()
    let choice = ProtocolChoice(limits: GatewayLimits(), connections: OpenConnections(unsent: UnsentTotal(GatewayLimits()))) {
      isHTTP2, channel in
      reader.installed.withLock { $0.append(isHTTP2) }
      try channel.pipeline.syncOperations.addHandler(reader)
    }
    try channel.pipeline.syncOperations.addHandler(choice)
    try channel.writeInbound(ByteBuffer(string: first))
    #expect(reader.installed.withLock { $0 } == [isHTTP2])
    #expect(reader.received.withLock { $0 } == first + "read in a flush")
    try channel.writeInbound(ByteBuffer(string: ", and behind"))
    #expect(reader.received.withLock { $0 } == first + "read in a flush, and behind")
    _ = try channel.finish()
  }
}
