internal import NIOCore
internal import NIOHTTP1

/// Puts requests together, hands them on one by one, and watches over what a client may take of time and space.
///
/// Answers are written past it: it sees them leave, and then knows that the connection is free for the next request.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  enum State {
    /// Between requests, or in the head of one.
    case idle
    case receiving(HTTPRequestHead, ByteBuffer?)
    /// The answer is being made.
    case answering(GatewayReply)
    /// The answer is written, and the client has not taken enough of it.
    case sending
    /// What still comes is not looked at.
    case closing
  }

  /// A part of a next request that came before the answer to the last was out, or the error behind it.
  enum Held {
    case part(HTTPServerRequestPart)
    case failure(any Error)
  }

  let handler: any RequestHandler
  let limits: GatewayLimits
  let connections: OpenConnections
  /// Whether this is one of many requests on a connection of HTTP/2, which is counted itself.
  let isStream: Bool
  var state = State.idle
  var keepsAlive: Bool
  /// Whether the client has said that it sends nothing more.
  var isHalfClosed = false
  private var client = ""
  /// What came before the answer to the last request was out, in its order.
  var held = CircularBuffer<Held>(initialCapacity: 0)
  /// Whether the channel asked to read while nothing may be read.
  var owesRead = false
  /// The bytes of answers that wait for this client, together with those of other requests on the connection.
  var unsent: UnsentBytes?
  /// How many of them are of the answers written here.
  var waiting = 0
  var deadline: NIODeadline?
  /// When the client must have taken something of what waits for it.
  var sendDeadline: NIODeadline?
  /// Whether a timer will look at the deadlines.
  var isTimed = false
  var context: ChannelHandlerContext?

  /// - Parameter unsent: Counts the answers of a connection of HTTP/2; nil for a connection of its own.
  init(
    _ handler: any RequestHandler, limits: GatewayLimits, stream unsent: UnsentBytes? = nil, connections: OpenConnections
  ) {
    self.handler = handler
    self.unsent = unsent
    isStream = unsent != nil
    // A stream has one request.
    keepsAlive = unsent == nil
    self.limits = limits
    self.connections = connections
  }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    // Of the channel: the context of a stream knows none.
    client = context.channel.remoteAddress?.ipAddress ?? "local"
    guard isStream || connections.insert(context.channel, maximum: limits.maximumConnections) else {
      state = .closing
      return context.close(promise: nil)
    }
    if unsent == nil { unsent = UnsentBytes(context.channel, of: connections.unsent) }
    allow(limits.receiveTimeout, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isStream { connections.remove(context.channel) }
    if case .answering(let reply) = state { reply.cancel() }
    state = .closing
    held.removeAll()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      isHalfClosed = true
      if isFree { closeWhenSent(context) }
    case is OpenConnections.Drain:
      keepsAlive = false
      if case .idle = state { closeWhenSent(context) }
    case is OpenConnections.End, is UnsentBytes.Overflow: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if case .sending = state, context.channel.isWritable { becomeFree(context) }
    context.fireChannelWritabilityChanged()
  }

  /// Answers go out in the order of their requests: an error behind a request that is served waits for its answer (RFC 9112, 9.3.2).
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError || error is ByteToMessageDecoderError else { return context.close(promise: nil) }
    switch state {
    // Bytes that a client sent behind its request for a WebSocket, before there was one.
    case .closing where error.isOfLeftovers: context.close(promise: nil)
    // Nothing is read behind the last request of a connection, so nothing there is wrong (RFC 9112, 9.6).
    case .closing: break
    case .answering, .sending: hold(.failure(error))
    case .idle, .receiving: if held.isEmpty { refuse(error, context) } else { hold(.failure(error)) }
    }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch state {
    case .closing: break
    case .answering, .sending: hold(.part(part))
    case .idle, .receiving: if held.isEmpty { take(part, context) } else { hold(.part(part)) }
    }
  }

  private func hold(_ next: Held) {
    guard keepsAlive else { return }
    // Behind an error the decoder reports no more than that there was one.
    if case .failure = held.last { return }
    held.append(next)
  }

  /// While an answer is made no more than one request is read ahead, and none while the client does not take what is written:
  /// its answers would pile up here.
  func read(context: ChannelHandlerContext) {
    switch state {
    case .answering where !held.isEmpty, .sending: owesRead = true
    default: context.read()
    }
  }

  private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
    switch (part, state) {
    case (.head(let head), .idle): begin(head, context)
    case (.body(let bytes), .receiving(let head, var body)):
      // The buffer is in one place while it grows, or each piece would copy it.
      state = .closing
      let size = (body?.readableBytes ?? 0) + bytes.readableBytes
      guard size <= limits.maximumBodyBytes else {
        state = .receiving(head, nil)
        return refuse(.bodyTooLarge(limits), context)
      }
      if body == nil { body = bytes } else { body?.writeImmutableBuffer(bytes) }
      state = .receiving(head, body)
    case (.end, .receiving(let head, let body)): complete(head, body ?? ByteBuffer(), context)
    default: context.close(promise: nil)
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    // Of HTTP/1.1 the decoder has seen to it; of HTTP/2 the library goes by what the client has agreed to.
    guard !isStream || head.isWithin(limits) else { return refuse(.headTooLarge, context) }
    var head = head
    let check: RequestHeadCheck
    do throws(RequestHeadCheck.Refusal) {
      check = try RequestHeadCheck(&head, limits: limits)
    } catch {
      return refuse(error, context)
    }
    // Who offers another protocol is answered in this one, but the decoder takes what follows for the other.
    keepsAlive = keepsAlive && head.isKeepAlive && !check.offersUpgrade && !connections.isDraining
    if check.expectsContinue, head.version != .http1_0 {
      let informational = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(informational)), promise: nil)
    }
    state = .receiving(head, nil)
    allow(limits.receiveTimeout, context)
  }

  private func complete(_ head: HTTPRequestHead, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    let reply = GatewayReply(channel: context.channel, to: head, keepsAlive: keepsAlive)
    let request = GatewayRequest(head: head, body: body, client: client)
    state = .answering(reply)
    deadline = nil
    guard SocketHandshake.isMeant(by: head) else { return handler.handle(request, reply) }
    if let upgrade = handler.upgrade(request, reply) { makeWay(for: upgrade, context) }
  }

  /// Hands the connection over to a WebSocket.
  private func makeWay(for upgrade: SocketUpgrade, _ context: ChannelHandlerContext) {
    state = .closing
    let pipeline = context.pipeline.syncOperations
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    do {
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      // The client sends nothing until it has the answer, and so the answer goes out when frames can be read.
      pipeline.removeHandler(decoder).assumeIsolated().whenSuccess { [self, connections] in
        let context = bound.value
        guard context.channel.isActive else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: upgrade.answer)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        do {
          try context.pipeline.syncOperations.makeWay(for: SocketHandler(upgrade, connections: connections), after: self)
        } catch {
          context.close(promise: nil)
        }
      }
    } catch {
      context.close(promise: nil)
    }
  }

  // MARK: The next request

  /// Whether nothing is under way, and nothing waits.
  private var isFree: Bool {
    switch state {
    case .idle, .receiving: held.isEmpty
    case .answering, .sending, .closing: false
    }
  }

  /// Goes on with the next request, once the client has taken enough of the last answer.
  func becomeFree(_ context: ChannelHandlerContext) {
    state = .idle
    if waiting == 0 { sendDeadline = nil }
    guard keepsAlive, !connections.isDraining else { return closeWhenSent(context) }
    allow(limits.idleTimeout, context)
    guard !held.isEmpty || owesRead || isHalfClosed else { return }
    // Not from within a write: the next answer may be written at once.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.execute { bound.value.0.takeHeld(bound.value.1) }
  }

  private func takeHeld(_ context: ChannelHandlerContext) {
    while let next = held.first {
      switch state {
      case .idle, .receiving: break
      case .answering, .sending, .closing: return
      }
      held.removeFirst()
      switch next {
      case .part(let part): take(part, context)
      case .failure(let error): refuse(error, context)
      }
    }
    if isHalfClosed, isFree { return closeWhenSent(context) }
    if owesRead {
      owesRead = false
      // By way of the handler itself, which may have a reason not to read by now.
      read(context: context)
    }
  }
}

extension Error {
  /// Whether the decoder was taken away and had bytes left.
  fileprivate var isOfLeftovers: Bool {
    if case .leftoverDataWhenDone? = self as? ByteToMessageDecoderError { true } else { false }
  }
}
