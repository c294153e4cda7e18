internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// Counts a connection of HTTP/2 as the one it is, and ends it in good order; its streams are served as connections of their own.
final class MultiplexedConnection: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  /// How much of a request's body a client may send ahead.
  private static let window = 64 << 10

  private let connections: OpenConnections

  private init(_ connections: OpenConnections) { self.connections = connections }

  /// Adds to a connection what speaks HTTP/2 on it.
  static func install(
    on channel: any Channel, _ handler: any RequestHandler, limits: GatewayLimits, connections: OpenConnections
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let upkeep = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop,
      configuration: .init(
        maxIdleTime: limits.idleTimeout, maxAge: nil, maxGraceTime: nil,
        keepalive: .init(pingInterval: limits.keepAlive, ackTimeout: limits.keepAlive)))
    let open = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection(limits), streamConfiguration: streams(limits),
      streamDelegate: StreamLedger(upkeep, channel.eventLoop)
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        let pipeline = stream.pipeline.syncOperations
        // The library goes by what the client has agreed to, and one that means ill need not.
        guard open.value < limits.maximumStreams else { return try pipeline.addHandler(RefusedStream()) }
        open.value += 1
        stream.closeFuture.whenComplete { _ in open.value -= 1 }
        try pipeline.addHandler(StreamEnding())
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(NIOHTTPResponseHeadersValidator())
        try pipeline.addHandler(ConnectionHandler(handler, limits: limits, stream: true, connections: connections))
      }
    }
    let connection = MultiplexedConnection(connections)
    try pipeline.addHandlers([connection, upkeep])
    // The time of idleness begins with the connection, and not with its first stream.
    try pipeline.context(handler: connection).fireChannelActive()
  }

  private static func connection(_ limits: GatewayLimits) -> NIOHTTP2Handler.ConnectionConfiguration {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.maximumStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: limits.maximumHeadBytes),
    ]
    return configuration
  }

  private static func streams(_ limits: GatewayLimits) -> NIOHTTP2Handler.StreamConfiguration {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    configuration.targetWindowSize = window
    configuration.streamResetFrameRateLimit.maximumCount = limits.maximumResets
    configuration.streamResetFrameRateLimit.windowLength = GatewayLimits.resetWindow
    return configuration
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    // Streams that are open may end, and the client is told to open no more.
    case is OpenConnections.Drain: context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // What is wrong with one stream alone, its own handler is told.
    if !(error is NIOHTTP2Errors.StreamError) { context.close(promise: nil) }
  }
}

/// Resets a stream that is one too many, whatever it asks for.
private final class RefusedStream: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}
