internal import NIOCore

/// Reads the first bytes of a connection to decide between HTTP/2 and HTTP/1.1, installs the handlers, and removes itself.
///
/// This works with TLS and without. A client that negotiated HTTP/2, or uses it by prior knowledge, starts with the connection
/// preface, which is not a valid HTTP/1.1 request.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The connection preface (RFC 9113, 3.4).
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let limits: GatewayLimits
  private let connections: OpenConnections
  private let install: @Sendable (_ isHTTP2: Bool, any Channel) throws -> Void
  private var bytes = ByteBuffer()
  private var hasChosen = false
  private var context: ChannelHandlerContext?

  /// - Parameter install: Adds the handlers for HTTP/2 or HTTP/1.1.
  init(
    limits: GatewayLimits, connections: OpenConnections,
    install: @escaping @Sendable (_ isHTTP2: Bool, any Channel) throws -> Void
  ) {
    self.limits = limits
    self.connections = connections
    self.install = install
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    // A handler for an earlier part of the connection may have added this one.
    if context.channel.isActive { begin(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard connections.insert(context.channel, maximum: limits.maximumConnections) else { return context.close(promise: nil) }
    connections.timers.call(self, after: limits.receiveTimeout, on: context.eventLoop) { $0.context?.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed: context.close(promise: nil)
    // The first request may be on its way already.
    case is OpenConnections.Drain:
      connections.timers.call(self, after: ConnectionHandler.lastRequestGrace, on: context.eventLoop) {
        $0.context?.close(promise: nil)
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A failing flush makes the channel read again, so this method may be re-entered while the first bytes are forwarded below.
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
