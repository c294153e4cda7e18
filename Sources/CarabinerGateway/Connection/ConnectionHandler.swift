internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Assembles the requests of an HTTP/1.1 connection, passes them on one at a time, and enforces the limits on time and size.
///
/// Responses pass through it as outbound data. From them it learns when the connection is free for the next request.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler, TimedHandler {
  typealias InboundIn = RequestPart
  typealias OutboundIn = ReplyPart
  typealias OutboundOut = ReplyPart

  enum State {
    /// No request is in progress, or the head of one is arriving.
    case idle
    case receiving(RequestHead)
    /// The body is arriving while the response is produced.
    case uploading(InboundUpload)
    /// The response is being produced.
    case answering(GatewayReply)
    /// The response is written, but the client has not read enough of it.
    case sending
    /// Further input is ignored.
    case closing
  }

  /// A part of a later request that arrived before the current response was written, or the error that follows it.
  enum Held {
    case part(RequestPart)
    case failure(InvalidRequest)
  }

  /// The time for a last request after a shutdown begins. Only connections that were used within the same time before it have it.
  static let lastRequestGrace = TimeAmount.seconds(1)

  /// Input that has arrived and waits.
  struct Input: ~Copyable {
    /// The bytes of a body that is received. They are not a part of the state, because taking them out of it would make a second
    /// reference, and each part of the body would copy all earlier ones.
    var body = ByteBuffer()
    /// Input that arrived before the last response was written, in order.
    var held = CircularBuffer<Held>(initialCapacity: 0)
    /// Whether the client has closed its sending side.
    var isHalfClosed = false
    /// How many more bytes of bodies are discarded before the connection is closed; nil before the last response is written.
    var discardable: Int?
    /// Whether the channel requested a read while reading was suspended.
    var owesRead = false
  }

  struct Deadlines: ~Copyable {
    /// The time by which more input must arrive.
    var receive: NIODeadline?
    /// The time by which the client must have read some of the unsent bytes.
    var send: NIODeadline?
    /// Whether the clock checks the deadlines.
    var areTimed = false
    /// Whether a response was sent. The timeout of an idle connection is then `idleTimeout`, and before the first response
    /// `receiveTimeout`.
    var hasAnswered = false

    /// When an idle connection was opened or sent its last response; nil if a deadline has passed.
    func lastUse(_ limits: GatewayLimits) -> NIODeadline? {
      receive.map { $0 - (hasAnswered ? limits.idleTimeout : limits.receiveTimeout) }
    }

    /// The first of the deadlines; nil if there is none.
    var first: NIODeadline? { [receive, send].compactMap(\.self).min() }
  }

  let handler: any RequestHandler
  let settings: CurrentSettings
  let connections: OpenConnections
  let clock: ConnectionClock
  @safe @exclusivity(unchecked) private(set) var terms: ConnectionTerms
  @safe @exclusivity(unchecked) var state = State.idle
  @safe @exclusivity(unchecked) var input = Input()
  @safe @exclusivity(unchecked) var deadlines = Deadlines()
  var keepsAlive = true
  /// The unsent response bytes of this connection.
  @safe @exclusivity(unchecked) var unsent: UnsentBytes?
  /// The number of unsent bytes that this handler has written.
  var waiting = 0
  @safe @exclusivity(unchecked) var context: ChannelHandlerContext?

  /// - Parameters:
  ///   - origin: Where the connection comes from.
  ///   - clock: The clock of the connection.
  init(
    _ handler: any RequestHandler, _ settings: CurrentSettings, from origin: ConnectionOrigin = ConnectionOrigin(),
    clock: ConnectionClock, connections: OpenConnections
  ) {
    self.handler = handler
    self.clock = clock
    self.settings = settings
    terms = ConnectionTerms(settings, origin)
    self.connections = connections
  }

  var limits: GatewayLimits { terms.limits }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    clock.stop()
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    // The channel's address: the context of a stream has none.
    terms.origin.set(peer: context.channel.remoteAddress?.ipAddress ?? "local", settings.value)
    guard connections.insert(context.channel, maximum: limits.maximumConnections) else {
      state = .closing
      return context.close(promise: nil)
    }
    unsent = UnsentBytes(context.channel, of: connections.unsent)
    allow(limits.receiveTimeout, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(context.channel)
    switch state {
    case .answering(let reply): reply.cancel()
    case .uploading(let upload):
      upload.reply.cancel()
      upload.body.end(.failure(CancellationError()))
    case .idle, .receiving, .sending, .closing: break
    }
    state = .closing
    input.held.removeAll()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      input.isHalfClosed = true
      if isFree { closeWhenSent(context) }
    // The response to a request in progress may have said that the connection stays open. The next response says that it closes.
    case is OpenConnections.Drain: if case .idle = state { closeIdle(context) }
    case is OpenConnections.End, is UnsentBytes.Overflow: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if case .sending = state, context.channel.isWritable { becomeFree(context) }
    context.fireChannelWritabilityChanged()
  }

  /// Responses are sent in the order of their requests, so an error after a request in progress waits for its response (RFC 9112,
  /// 9.3.2).
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? InvalidRequest else { return context.close(promise: nil) }
    switch state {
    // Input after the last request of a connection is ignored, also if it is invalid (RFC 9112, 9.6).
    case .closing: break
    case .answering, .sending: hold(.failure(error))
    case .uploading(let upload): breakOff(upload, error.error)
    case .idle, .receiving: if input.held.isEmpty { refuse(error, context) } else { hold(.failure(error)) }
    }
  }

  /// Closes a connection without a request, for a shutdown.
  ///
  /// A client that has just connected or got a response may be sending its next request. If the connection were closed now, the
  /// request would be lost. So the client has ``lastRequestGrace`` to send it.
  private func closeIdle(_ context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    guard let lastUse = deadlines.lastUse(limits), now - lastUse < Self.lastRequestGrace else {
      return closeWhenSent(context)
    }
    connections.timers.call(self, after: Self.lastRequestGrace, on: context.eventLoop) { handler in
      if let context = handler.context, case .idle = handler.state { handler.closeWhenSent(context) }
    }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch state {
    case .closing: discard(part, context)
    case .answering, .sending: hold(.part(part))
    case .uploading(let upload): take(part, of: upload, context)
    case .idle, .receiving: if input.held.isEmpty { take(part, context) } else { hold(.part(part)) }
    }
  }

  private func hold(_ next: Held) {
    guard keepsAlive else { return }
    // After an error, the decoder only repeats it.
    if case .failure = input.held.last { return }
    input.held.append(next)
  }

  /// At most one request is read ahead while a response is produced. No request is read while the client does not read responses:
  /// they would accumulate here.
  func read(context: ChannelHandlerContext) {
    switch state {
    case .answering where !input.held.isEmpty, .sending: input.owesRead = true
    case .uploading(let upload) where upload.body.isFull(): suspend(upload)
    default:
      endSuspension(context)
      context.read()
    }
  }

  private func take(_ part: RequestPart, _ context: ChannelHandlerContext) {
    switch (part, state) {
    case (.whole(let head, let body), .idle):
      switch begin(head, context) {
      case .refused: break
      case .whole: complete(head, body, context)
      case .upload:
        beginUpload(head, context)
        for part in [.body(body), .end] as [RequestPart] {
          if case .uploading(let upload) = state { take(part, of: upload, context) }
        }
      }
    case (.head(let head), .idle):
      switch begin(head, context) {
      case .refused: break
      case .whole:
        state = .receiving(head)
        allow(limits.receiveTimeout, context)
      case .upload: beginUpload(head, context)
      }
    case (.body(let bytes), .receiving):
      let size = input.body.readableBytes
      guard size + bytes.readableBytes <= limits.maximumBodyBytes else { return refuse(.bodyTooLarge(limits), context) }
      if size == 0 { input.body = bytes } else { input.body.writeImmutableBuffer(bytes) }
    case (.end, .receiving(let head)):
      let body = input.body
      input.body = ByteBuffer()
      complete(head, body, context)
    default: context.close(promise: nil)
    }
  }

  /// The next step for a request whose head has arrived.
  private enum Intake {
    case refused
    /// It is handled when its body has arrived.
    case whole
    /// It is handled at once.
    case upload
  }

  /// Checks a head.
  private func begin(_ head: RequestHead, _ context: ChannelHandlerContext) -> Intake {
    if terms.renew(settings) { clock.renew(limits) }
    let check = head.check
    let isUpload = check.mayBeForm && handler.takesUpload(head)
    guard check.bodyLength <= (isUpload ? limits.maximumUploadBytes : limits.maximumBodyBytes) else {
      refuse(isUpload ? .uploadTooLarge(limits) : .bodyTooLarge(limits), to: head.headers, context)
      return .refused
    }
    // An offer of another protocol is ignored, but the decoder treats the following bytes as that protocol.
    keepsAlive = keepsAlive && head.keepsAlive && !check.offersUpgrade && !connections.takesLastRequests
    if check.expectsContinue, head.version != .http1_0 {
      context.writeAndFlush(wrapOutboundOut(.head(ReplyHead(status: .continue, fields: [:]))), promise: nil)
    }
    return isUpload ? .upload : .whole
  }

  private func complete(_ head: RequestHead, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    let reply = GatewayReply(channel: context.channel, of: connections, to: head, keepsAlive: keepsAlive)
    let request = GatewayRequest(head: head, body: body, origin: terms.origin.origin(of: head))
    state = .answering(reply)
    deadlines.receive = nil
    guard head.asksForWebSocket else { return handler.handle(request, reply) }
    if let upgrade = handler.upgrade(request, reply) { makeWay(for: upgrade, context) }
  }

  /// Hands the connection over to the handlers of a WebSocket.
  private func makeWay(for upgrade: SocketUpgrade, _ context: ChannelHandlerContext) {
    state = .closing
    let head = ReplyHead(status: .switchingProtocols, fields: ReplyFields(upgrade.answer))
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    do {
      let pipeline = context.pipeline.syncOperations
      try pipeline.addHandlers(upgrade.handlers(connections), position: .after(self))
      pipeline.removeHandler(try pipeline.handler(type: HTTP1Codec.self), promise: nil)
      pipeline.removeHandler(self, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }

  // MARK: The next request

  /// Whether no response is in progress and no input is held.
  private var isFree: Bool {
    switch state {
    case .idle, .receiving: input.held.isEmpty
    case .uploading, .answering, .sending, .closing: false
    }
  }

  /// Continues with the next request, once the client has read enough of the last response.
  func becomeFree(_ context: ChannelHandlerContext) {
    state = .idle
    if waiting == 0 { deadlines.send = nil }
    guard keepsAlive else { return closeWhenSent(context) }
    deadlines.hasAnswered = true
    allow(limits.idleTimeout, context)
    if connections.isDraining { closeIdle(context) }
    guard !input.held.isEmpty || input.owesRead || input.isHalfClosed else { return }
    // Deferred, because this runs inside a write, and the next request may be answered at once.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.execute { bound.value.0.takeHeld(bound.value.1) }
  }

  private func takeHeld(_ context: ChannelHandlerContext) {
    while let next = input.held.first {
      switch state {
      case .idle, .receiving: break
      case .uploading, .answering, .sending, .closing: return
      }
      input.held.removeFirst()
      switch next {
      case .part(let part): take(part, context)
      case .failure(let error): refuse(error, context)
      }
    }
    if input.isHalfClosed, isFree { return closeWhenSent(context) }
    if input.owesRead {
      input.owesRead = false
      // Calls the handler's method, not `context.read()`, because reading may be suspended again.
      read(context: context)
    }
  }
}
