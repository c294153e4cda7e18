internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Serves an HTTP/2 connection through a session of nghttp2, asks its client for signs of life, and closes it gracefully.
///
/// The last handler of the pipeline. The session reports events while it reads and writes, which are recorded. Handlers of requests are
/// called, and the channel is used, only after that.
final class HTTP2Connection: ChannelInboundHandler, TimedHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Phase {
    case open
    /// The client is asked not to open streams.
    case draining
    /// It knows the last stream that is served.
    case finishing
    /// Input is discarded.
    case ending
  }

  /// The data of pings that ask for a sign of life, and of the one of a shutdown.
  private static let upkeepPing: StaticString = "upkeep  "
  static let shutdownPing: StaticString = "shutdown"
  /// How long input is discarded before the close, so that the client can read the GOAWAY frame.
  private static let closeGrace = TimeAmount.seconds(1)
  /// The maximum number of bytes that are discarded before the connection is closed at once.
  private static let maximumIgnored = 64 << 10

  let handler: any RequestHandler
  let settings: CurrentSettings
  let connections: OpenConnections
  /// The unsent response bytes of all streams.
  let unsent: UnsentBytes
  let loop: any EventLoop
  private let clock: ConnectionClock
  @safe @exclusivity(unchecked) var terms: ConnectionTerms
  @safe @exclusivity(unchecked) var session: StreamSession
  @safe @exclusivity(unchecked) private(set) var context: ChannelHandlerContext?
  var phase = Phase.open

  // MARK: Input

  /// The bytes that the session reads.
  @safe @exclusivity(unchecked) var input = ByteBuffer()
  @safe @exclusivity(unchecked) var heads = FrameHeadReader()
  @safe @exclusivity(unchecked) var budget: FrameBudget
  @safe @exclusivity(unchecked) var ended = EndedStreams()
  /// The open streams.
  @safe @exclusivity(unchecked) var streams: [HTTP2Stream] = []
  /// Whether the client, or the end of the stream, has ended the data of the stream that was opened last.
  var hasLastEnded = true
  /// The stream whose head is arriving.
  @safe @exclusivity(unchecked) var current: HTTP2Stream?
  /// The streams for which the session has read something.
  @safe @exclusivity(unchecked) var arrivals: [HTTP2Stream] = []
  /// The streams that the session has closed before their responses were sent.
  @safe @exclusivity(unchecked) var broken: [HTTP2Stream] = []
  /// Whether the reads of this turn of the loop are not complete.
  var isReading = false
  /// Whether the client has answered the ping of the shutdown.
  var hasAcknowledged = false
  /// The number of bytes that were discarded.
  private var ignored = 0
  /// The time of the last read.
  var now: NIODeadline

  // MARK: Output

  /// The promises of the pieces that the session has taken since the last write.
  @safe @exclusivity(unchecked) var taken: [EventLoopPromise<Void>] = []
  /// The number of bytes that the session is likely to have; nil if it has none.
  var expected: Int?
  /// Whether bytes were written that are not flushed.
  var isUnflushed = false
  /// Whether the GOAWAY frame that ends the connection was sent.
  var hasSentEnd = false

  // MARK: Time

  private var isTimed = false
  private var upkeep: ConnectionUpkeep
  /// When the last stream ended, or the connection began.
  var idleSince: NIODeadline

  init(
    _ handler: any RequestHandler, _ settings: CurrentSettings, from origin: ConnectionOrigin, on channel: any Channel,
    connections: OpenConnections
  ) {
    let limits = settings.limits
    self.handler = handler
    self.settings = settings
    self.connections = connections
    loop = channel.eventLoop
    unsent = UnsentBytes(channel, of: connections.unsent)
    clock = ConnectionClock(channel.eventLoop, limits, connections.timers)
    terms = ConnectionTerms(settings, origin)
    session = StreamSession(limits)
    budget = FrameBudget(limits)
    now = channel.eventLoop.now
    upkeep = ConnectionUpkeep(limits, at: now)
    idleSince = now
  }

  /// Adds the handler for HTTP/2 to a connection.
  static func install(
    on channel: any Channel, _ handler: any RequestHandler, _ settings: CurrentSettings,
    from origin: ConnectionOrigin = ConnectionOrigin(), connections: OpenConnections
  ) throws {
    try channel.pipeline.syncOperations.addHandler(
      HTTP2Connection(handler, settings, from: origin, on: channel, connections: connections))
  }

  var limits: GatewayLimits { terms.limits }

  /// When the last stream ended; nil if one is open.
  private var lastUse: NIODeadline? { streams.isEmpty ? idleSince : nil }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    guard session.isOpen else { return context.close(promise: nil) }
    session.attach(self)
    hasOutput()
    terms.origin.set(peer: context.channel.remoteAddress?.ipAddress ?? "local", settings.value)
    if connections.isDraining { drain() } else { keepUp() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    clock.stop()
    settleAll()
    session.free()
    for stream in streams { stream.leave() }
    streams = []
    current = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    phase = .ending
    settleAll()
    context.fireChannelInactive()
  }

  private func settleAll() {
    arrivals = []
    // A stream may call back, but it does not change the list before the session runs again.
    for stream in streams { stream.settle() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard phase != .ending else { return ignore(bytes.readableBytes, context) }
    isReading = true
    now = loop.now
    receive(bytes)
    serveArrivals()
    // The session may have frames of its own, for example acknowledgements.
    hasOutput()
    write()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if phase != .ending { upkeep.didRead(at: now) }
    isReading = false
    flush()
    context.fireChannelReadComplete()
  }

  private func ignore(_ count: Int, _ context: ChannelHandlerContext) {
    ignored += count
    if ignored > Self.maximumIgnored { context.close(promise: nil) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { flush() }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is OpenConnections.Drain: drain()
    case ChannelEvent.inputClosed, is OpenConnections.End: end(.noError, after: nil)
    case is UnsentBytes.Overflow: end(.enhanceYourCalm, after: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  // MARK: The end

  /// Lets open streams finish. GOAWAY asks the client not to open new ones, and a ping shows when it knows.
  private func drain() {
    guard phase == .open else { return }
    phase = .draining
    for stream in streams where stream.awaitsEnd { stream.reset(.noError) }
    session.announceShutdown()
    session.ping(Self.shutdownPing)
    hasOutput()
    connections.timers.call(self, after: limits.keepAlive, on: loop) { connection in
      // A client that does not answer is gone.
      if connection.phase == .draining { connection.end(.noError, after: nil) }
    }
    flush()
  }

  /// Continues a shutdown when the client has answered the ping, and when its last stream has ended.
  func finishDraining() {
    if phase == .draining, hasAcknowledged {
      phase = .finishing
      session.goAway()
      hasOutput()
      write()
    }
    if phase == .finishing, streams.isEmpty, expected == nil { closeWhenSent() }
  }

  /// Closes the connection when the client has received everything, or does not read.
  private func closeWhenSent() {
    guard let context else { return }
    phase = .ending
    let bound = NIOLoopBound(self, eventLoop: loop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in bound.value.context?.close(promise: nil) }
    connections.timers.call(self, after: limits.sendTimeout, on: loop) { $0.context?.close(promise: nil) }
  }

  /// Ends the connection with a GOAWAY frame with the last stream that may have been processed (RFC 9113, 6.8).
  ///
  /// - Parameter grace: How long input is discarded before the close, so that the client can read the frame; nil for no time.
  func end(_ code: HTTP2ErrorCode, after grace: TimeAmount? = closeGrace) {
    guard phase != .ending, let context else { return }
    phase = .ending
    settleAll()
    session.terminate(code)
    hasOutput()
    writeAll(context)
    context.flush()
    // The flush may have closed the channel.
    guard let context = self.context else { return }
    guard let grace else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    connections.timers.call(self, after: grace, on: loop) { $0.context?.close(promise: nil) }
  }

  // MARK: Time

  private func keepUp() {
    let now = loop.now
    switch upkeep.step(at: now, idleSince: lastUse) {
    case .wait: break
    case .ping:
      session.ping(Self.upkeepPing)
      hasOutput()
      flush()
    case .close: return drain()
    }
    let next = upkeep.wait(after: now, idleSince: lastUse)
    connections.timers.call(self, after: next, on: loop) { connection in
      if connection.phase == .open, connection.context != nil { connection.keepUp() }
    }
  }

  /// Sets the time by which more input must arrive on a stream.
  func allow(_ time: TimeAmount, _ stream: HTTP2Stream) {
    stream.deadlines.receive = now + time
    addToClock(until: now + time)
  }

  /// Sets the time by which the client must have read some of the data of a stream.
  func awaitClient(_ stream: HTTP2Stream) {
    let due = loop.now + terms.limits.sendTimeout
    stream.deadlines.send = due
    addToClock(until: due)
  }

  private func addToClock(until due: NIODeadline) {
    // The clock would keep the handler of a closed channel.
    guard !isTimed, context?.channel.isActive == true else { return }
    isTimed = true
    clock.add(self, until: due)
  }

  /// Uses the limits of a reload.
  func renewTerms() { if terms.renew(settings) { clock.renew(terms.limits) } }

  func checkDeadlines(_ now: NIODeadline) -> NIODeadline? {
    self.now = now
    for stream in streams { check(stream, now) }
    flush()
    let next = context == nil ? nil : streams.compactMap(\.deadlines.first).min()
    isTimed = next != nil
    return next
  }

  private func check(_ stream: HTTP2Stream, _ now: NIODeadline) {
    if let due = stream.deadlines.send, due <= now { return stream.reset(.cancel) }
    guard let due = stream.deadlines.receive, due <= now else { return }
    stream.deadlines.receive = nil
    isLate(stream)
  }
}
