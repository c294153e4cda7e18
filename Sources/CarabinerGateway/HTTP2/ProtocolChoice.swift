internal import NIOCore

/// Waits for the first bytes of a connection, which say whether it speaks HTTP/2 or HTTP/1.1, and makes way.
///
/// They say so with TLS and without: a client that agreed on HTTP/2, or knows that it may, begins with what is no request of HTTP/1.1.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// What a connection of HTTP/2 begins with (RFC 9113, 3.4).
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let limits: GatewayLimits
  private let connections: OpenConnections
  private let install: @Sendable (_ isHTTP2: Bool, any Channel) throws -> Void
  private var bytes = ByteBuffer()
  private var hasChosen = false
  private var context: ChannelHandlerContext?

  /// - Parameter install: Adds what reads the one protocol or the other.
  init(
    limits: GatewayLimits, connections: OpenConnections,
    install: @escaping @Sendable (_ isHTTP2: Bool, any Channel) throws -> Void
  ) {
    self.limits = limits
    self.connections = connections
    self.install = install
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) {
    guard connections.insert(context.channel, maximum: limits.maximumConnections) else { return context.close(promise: nil) }
    context.eventLoop.watch(self, until: .now() + limits.receiveTimeout) { $0.context?.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed, is OpenConnections.Drain: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A channel reads again within a flush that fails, so this runs again while the first bytes are on their way below.
    guard !hasChosen else { return context.fireChannelRead(data) }
    bytes.writeImmutableBuffer(unwrapInboundIn(data))
    let isPreface = bytes.readableBytesView.prefix(Self.preface.count).elementsEqual(Self.preface.prefix(bytes.readableBytes))
    guard !isPreface || bytes.readableBytes >= Self.preface.count else { return }
    hasChosen = true
    do {
      try install(isPreface, context.channel)
      context.fireChannelRead(wrapInboundOut(bytes))
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }
}
