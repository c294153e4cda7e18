internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// Counts an HTTP/2 connection once, asks its client for signs of life, and closes it gracefully. Its streams have a `ConnectionHandler`
/// each.
final class MultiplexedConnection: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The flow control window of a stream, in bytes.
  private static let window = 64 << 10

  /// The library reads heads up to this size at least, so that a head above the limit is answered with 431 and only its stream
  /// ends.
  private static let minimumReadableHead = 128 << 10
  /// The number of CONTINUATION frames that a head may have beside those that its size needs.
  private static let spareContinuations = 8
  /// The data of pings that ask for a sign of life. The library has other data for those of a shutdown.
  private static let pingData: UInt64 = 0
  /// How long input is discarded before the close, so that the client can read the GOAWAY frame.
  private static let closeGrace = TimeAmount.seconds(1)

  private let connections: OpenConnections
  private let frames: FrameOutlet
  private let ledger: StreamLedger
  private let limits: GatewayLimits
  private var isEnding = false
  private var isDraining = false
  private var upkeep: ConnectionUpkeep
  private var context: ChannelHandlerContext?

  private init(_ connections: OpenConnections, _ limits: GatewayLimits, _ frames: FrameOutlet, _ ledger: StreamLedger) {
    self.connections = connections
    self.limits = limits
    self.frames = frames
    self.ledger = ledger
    upkeep = ConnectionUpkeep(limits, at: .now())
  }

  /// Adds the handlers for HTTP/2 to a connection.
  static func install(
    on channel: any Channel, _ handler: any RequestHandler, _ settings: CurrentSettings,
    from origin: ConnectionOrigin = ConnectionOrigin(), connections: OpenConnections
  ) throws {
    let limits = settings.limits
    let pipeline = channel.pipeline.syncOperations
    let shutdown = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop, configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
    let open = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    let unsent = UnsentBytes(channel, of: connections.unsent)
    let clock = NIOLoopBound(ConnectionClock(channel.eventLoop, limits, connections.timers), eventLoop: channel.eventLoop)
    let ledger = StreamLedger(shutdown, channel.eventLoop)
    let frames = FrameOutlet(maximumIdleFrames: limits.maximumIdleFrames)
    let bytes = NIOLoopBound(FieldBytes(), eventLoop: channel.eventLoop)
    try pipeline.addHandler(frames)
    try pipeline.addHandler(bytes.value)
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection(limits), streamConfiguration: streams(limits),
      streamDelegate: ledger
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        let pipeline = stream.pipeline.syncOperations
        // The library applies only the limits that the client has acknowledged; a malicious client need not acknowledge them.
        guard open.value < limits.maximumStreams else { return try pipeline.addHandler(RefusedStream()) }
        open.value += 1
        stream.closeFuture.whenComplete { _ in open.value -= 1 }
        try pipeline.addHandler(StreamEnding())
        try pipeline.addHandler(StreamFieldCheck(bytes.value))
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(NIOHTTPResponseHeadersValidator())
        try pipeline.addHandler(StreamParts())
        try pipeline.addHandler(
          ConnectionHandler(handler, settings, from: origin, stream: unsent, clock: clock.value, connections: connections))
      }
    }
    let connection = MultiplexedConnection(connections, limits, frames, ledger)
    try pipeline.addHandlers([connection, shutdown])
  }

  private static func connection(_ limits: GatewayLimits) -> NIOHTTP2Handler.ConnectionConfiguration {
    let readableHead = max(minimumReadableHead, 4 * limits.maximumHeadBytes)
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.maximumStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: readableHead),
    ]
    // A head of that size must fit. Clients fill a frame before they begin the next one, and some do not.
    configuration.maximumSequentialContinuationFrames = readableHead / FieldBytes.maximumPayload + spareContinuations
    return configuration
  }

  private static func streams(_ limits: GatewayLimits) -> NIOHTTP2Handler.StreamConfiguration {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    configuration.targetWindowSize = window
    configuration.streamResetFrameRateLimit.maximumCount = limits.maximumResets
    configuration.streamResetFrameRateLimit.windowLength = GatewayLimits.resetWindow
    return configuration
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    keepUp(context)
    frames.onGoAway = { [weak self] in self?.awaitAcknowledgement() }
    frames.onFlood = { [weak self] in
      if let self, let context = self.context { end(.enhanceYourCalm, context, after: Self.closeGrace) }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelReadComplete(context: ChannelHandlerContext) {
    upkeep.didRead(at: context.eventLoop.now)
    context.fireChannelReadComplete()
  }

  private func keepUp(_ context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    switch upkeep.step(at: now, idleSince: ledger.idleSince) {
    case .wait: break
    case .ping:
      let ping = HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: Self.pingData), ack: false))
      context.writeAndFlush(wrapOutboundOut(ping), promise: nil)
    case .close: return drain(context)
    }
    let next = upkeep.wait(after: now, idleSince: ledger.idleSince)
    connections.timers.call(self, after: next, on: context.eventLoop) { connection in
      guard !connection.isDraining, !connection.isEnding, let context = connection.context else { return }
      connection.keepUp(context)
    }
  }

  /// Lets open streams finish. GOAWAY asks the client not to open new ones.
  private func drain(_ context: ChannelHandlerContext) {
    isDraining = true
    context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  /// Closes the connection if the client does not acknowledge the shutdown in time. The library sends GOAWAY and a ping, and
  /// sends the final GOAWAY only when the ping is answered.
  private func awaitAcknowledgement() {
    guard let context else { return }
    connections.timers.call(self, after: limits.keepAlive, on: context.eventLoop) { connection in
      if connection.frames.goAways == 1 { connection.context?.close(promise: nil) }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is OpenConnections.Drain: drain(context)
    case ChannelEvent.inputClosed, is OpenConnections.End: end(.noError, context, after: nil)
    case is UnsentBytes.Overflow: end(.enhanceYourCalm, context, after: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The library reports errors of single streams here too, after it has reset the stream. It reports connection errors after it
    // has sent GOAWAY (RFC 9113, 5.4).
    if frames.hasSaidWhy {
      end(.protocolError, context, after: Self.closeGrace)
    } else if !(error is any NIOHTTP2Error) {
      context.close(promise: nil)
    }
  }

  /// Sends GOAWAY with the last stream whose request may have been processed (RFC 9113, 6.8), then closes the connection.
  private func end(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext, after grace: TimeAmount?) {
    guard !isEnding else { return }
    isEnding = true
    if !frames.hasSaidWhy {
      let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: ledger.last, errorCode: code, opaqueData: nil)
      context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }
    guard let grace else { return context.close(promise: nil) }
    frames.ignoresInput = true
    context.close(mode: .output, promise: nil)
    connections.timers.call(self, after: grace, on: context.eventLoop) { $0.context?.close(promise: nil) }
  }
}

/// Resets a stream above the limit. Its request was not processed, so the client may send it again (RFC 9113, 8.7).
private final class RefusedStream: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    context.close(promise: nil)
  }
}
