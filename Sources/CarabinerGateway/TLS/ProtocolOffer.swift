internal import NIOCore

/// Fails the TLS handshake of a client that offers only unsupported ALPN protocols (RFC 7301, 3.2).
///
/// In that case the TLS library would continue without ALPN, and the response would use a protocol that the client did not offer.
final class ProtocolOffer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The fatal alert `no_application_protocol` in a record of its own.
  private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 120]

  private let spoken: [String]
  private var bytes = ByteBuffer()

  /// - Parameter spoken: The supported ALPN protocols.
  init(_ spoken: [String]) { self.spoken = spoken }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes.writeImmutableBuffer(unwrapInboundIn(data))
    switch ClientHello(bytes) {
    case .incomplete: return
    case .offers(let offered) where !offered.contains(where: spoken.contains):
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.alert))).whenComplete { _ in bound.value.close(promise: nil) }
    case .offers, .other:
      context.fireChannelRead(wrapInboundOut(bytes))
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
  }
}
