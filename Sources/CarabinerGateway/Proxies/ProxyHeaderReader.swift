internal import CarabinerWire
internal import NIOCore

/// Reads the header of the PROXY protocol at the beginning of a connection, installs the handlers for the rest, and removes itself.
///
/// A connection is closed if its peer is not a trusted proxy, or if it has no header.
final class ProxyHeaderReader: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let settings: GatewaySettings
  private let connections: OpenConnections
  private let install: @Sendable (_ client: String, any Channel) throws -> Void
  private var bytes = ByteBuffer()
  private var hasEnded = false
  private var peer = ""
  private var context: ChannelHandlerContext?

  /// - Parameter install: Adds the handlers for the bytes after the header.
  init(
    _ settings: GatewaySettings, connections: OpenConnections,
    install: @escaping @Sendable (_ client: String, any Channel) throws -> Void
  ) {
    self.settings = settings
    self.connections = connections
    self.install = install
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    peer = context.channel.remoteAddress?.ipAddress ?? ""
    guard let address = IPAddress(peer[...]), settings.trusts(address),
      connections.insert(context.channel, maximum: settings.limits.maximumConnections)
    else { return close(context) }
    connections.timers.call(self, after: settings.limits.receiveTimeout, on: context.eventLoop) { reader in
      if let context = reader.context, !reader.hasEnded { reader.close(context) }
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed, is OpenConnections.Drain, is OpenConnections.End: close(context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { close(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A failing flush makes the channel read again while the bytes are forwarded below.
    guard !hasEnded else { return context.fireChannelRead(data) }
    bytes.writeImmutableBuffer(unwrapInboundIn(data))
    switch ProxyHeader(bytes.readableBytesView) {
    case .incomplete: break
    case .malformed: close(context)
    case .complete(let client, let length):
      hasEnded = true
      bytes.moveReaderIndex(forwardBy: length)
      do {
        try install(client?.description ?? peer, context.channel)
        if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
      } catch {
        close(context)
      }
    }
  }

  private func close(_ context: ChannelHandlerContext) {
    hasEnded = true
    context.close(promise: nil)
  }
}
