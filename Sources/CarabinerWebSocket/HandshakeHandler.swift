internal import Carabiner
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// Sends the handshake, checks the response, and then leaves the pipeline to the frame handlers.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  /// The number of bytes of a rejection's body that are shown.
  private static let keptBodyBytes = 200

  private enum Phase {
    case waiting
    case refused(status: Int, location: String?, body: String)
    /// The server accepted the upgrade. Further input is for the later handlers.
    case upgraded
    /// This handler is being removed.
    case passing
    case failed
  }

  private let opening: SocketOpening
  private let connection: SocketConnection
  private let encoder: HTTPRequestEncoder
  private let decoder: ByteToMessageHandler<HTTPResponseDecoder>
  private let handshake: Handshake
  private var phase = Phase.waiting
  /// Input after the head of the response.
  private var early: [NIOAny] = []

  init(
    _ opening: SocketOpening, _ connection: SocketConnection, _ encoder: HTTPRequestEncoder,
    _ decoder: ByteToMessageHandler<HTTPResponseDecoder>
  ) {
    self.opening = opening
    self.connection = connection
    self.encoder = encoder
    self.decoder = decoder
    handshake = Handshake(opening)
  }

  func channelActive(context: ChannelHandlerContext) {
    let head = HTTPRequestHead(
      version: .http1_1, method: .GET, uri: opening.endpoint.target,
      headers: NIOHTTP1.HTTPHeaders(handshake.fields.map { ($0.name, $0.value) }))
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch phase {
    case .upgraded: return early.append(data)
    case .passing: return context.fireChannelRead(data)
    case .waiting, .refused, .failed: break
    }
    switch unwrapInboundIn(data) {
    case .head(let head): take(head)
    case .body(let bytes):
      guard case .refused(let status, let location, let body) = phase, body.utf8.count < Self.keptBodyBytes else { return }
      phase = .refused(
        status: status, location: location,
        body: body + String(decoding: bytes.readableBytesView.prefix(Self.keptBodyBytes), as: UTF8.self))
    case .end: ended(context)
    }
  }

  private func take(_ head: HTTPResponseHead) {
    guard head.status == .switchingProtocols else {
      phase = .refused(status: Int(head.status.code), location: head.headers.first(name: "location"), body: "")
      return
    }
    do throws(WebSocketError) {
      try handshake.check { head.headers[$0] }
    } catch {
      fail(error)
    }
  }

  private func ended(_ context: ChannelHandlerContext) {
    switch phase {
    case .waiting: upgrade(context)
    case .refused(let status, let location, let body):
      fail(handshake.refusal(status, location: location, body: body))
    case .upgraded, .passing, .failed: break
    }
  }

  private func upgrade(_ context: ChannelHandlerContext) {
    phase = .upgraded
    let pipeline = context.pipeline.syncOperations
    do {
      let maximum = opening.configuration.maximumMessageBytes
      try pipeline.addHandlers(
        [
          ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: maximum)), WebSocketFrameEncoder(),
          FrameHandler(connection, maximumMessageBytes: maximum),
        ], position: .after(self))
    } catch {
      return fail(opening.failure(of: error))
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    // Both process outbound data, so frames can be written only after their removal.
    pipeline.removeHandler(encoder).and(pipeline.removeHandler(decoder)).whenComplete { _ in
      let (handler, context) = bound.value
      handler.makeWay(context)
    }
  }

  private func makeWay(_ context: ChannelHandlerContext) {
    phase = .passing
    connection.upgraded(context.channel)
    for bytes in early { context.fireChannelRead(bytes) }
    early = []
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private func fail(_ error: WebSocketError) {
    phase = .failed
    connection.fail(error)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch phase {
    case .upgraded, .passing: context.fireErrorCaught(error)
    case .waiting, .refused, .failed: fail(opening.failure(of: error))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if case .refused = phase { ended(context) }
    if case .waiting = phase {
      fail(
        opening.error(
          .cannotConnect, "the server closed the connection before it answered; check that the URL is that of a WebSocket"))
    }
    context.fireChannelInactive()
  }
}
