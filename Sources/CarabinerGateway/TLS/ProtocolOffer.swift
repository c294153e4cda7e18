internal import NIOCore
internal import NIOSSL

/// Reads the first message of a TLS client, adds the handler with the certificate for its host name, and removes itself.
///
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
  private let handler: (_ serverName: String?) -> NIOSSLServerHandler?
  private var bytes = ByteBuffer()
  private var reader = ClientHelloReader()

  /// - Parameters:
  ///   - spoken: The supported ALPN protocols.
  ///   - handler: Returns the handler with the certificate for a host name; nil for no handler.
  init(_ spoken: [String], handler: @escaping (_ serverName: String?) -> NIOSSLServerHandler? = { _ in nil }) {
    self.spoken = spoken
    self.handler = handler
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes.writeImmutableBuffer(unwrapInboundIn(data))
    switch reader.read(bytes) {
    case .incomplete: return
    case .offers(let offered?, _) where !offered.contains(where: spoken.contains):
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.alert))).whenComplete { _ in bound.value.close(promise: nil) }
    case .offers(_, let name): pass(name, context)
    case .other: pass(nil, context)
    }
  }

  private func pass(_ serverName: String?, _ context: ChannelHandlerContext) {
    do {
      let pipeline = context.pipeline.syncOperations
      if let next = handler(serverName) { try pipeline.addHandler(next, position: .after(self)) }
      context.fireChannelRead(wrapInboundOut(bytes))
      pipeline.removeHandler(self, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }
}
