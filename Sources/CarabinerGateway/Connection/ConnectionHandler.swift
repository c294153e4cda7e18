internal import NIOCore
internal import NIOHTTP1

/// Puts requests together, hands them on one by one, and watches over what a client may take of time and space.
///
/// Answers are written past it: it sees them leave, and then knows that the connection is free for the next request.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// Between requests, or in the head of one.
    case idle
    case receiving(HTTPRequestHead, ByteBuffer?)
    /// The answer is being made; nothing is read meanwhile.
    case answering(GatewayReply)
    /// What still comes is not looked at.
    case closing
  }

  private let handler: any RequestHandler
  private let limits: GatewayLimits
  private let connections: OpenConnections
  /// Whether this is one of many requests on a connection of HTTP/2, which is counted itself.
  private let isStream: Bool
  private var state = State.idle
  private var keepsAlive: Bool
  /// Whether the client has said that it sends nothing more.
  private var isHalfClosed = false
  private var client = ""
  /// Parts of a next request that came before the answer to the last was out.
  private var waiting: [HTTPServerRequestPart] = []
  private var deadline: NIODeadline?
  /// Whether a timer will look at the deadline.
  private var isTimed = false
  private var context: ChannelHandlerContext?

  init(_ handler: any RequestHandler, limits: GatewayLimits, stream: Bool = false, connections: OpenConnections) {
    self.handler = handler
    isStream = stream
    // A stream has one request.
    keepsAlive = !stream
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
    allow(limits.receiveTimeout, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isStream { connections.remove(context.channel) }
    if case .answering(let reply) = state { reply.cancel() }
    state = .closing
    waiting.removeAll()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      isHalfClosed = true
      if case .answering = state { keepsAlive = false } else { context.close(promise: nil) }
    case is OpenConnections.Drain:
      keepsAlive = false
      if case .idle = state { context.close(promise: nil) }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case HTTPParserError.headerOverflow: headTooLarge(context)
    case is HTTPParserError:
      refuse(context, .badRequest, "this is no HTTP request: \(error)")
    default:
      context.close(promise: nil)
    }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch state {
    case .answering: waiting.append(part)
    case .closing: break
    case .idle, .receiving: take(part, context)
    }
  }

  /// While an answer is made nothing more is read: who does not listen is not listened to.
  func read(context: ChannelHandlerContext) {
    if case .answering = state, !waiting.isEmpty { return }
    context.read()
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
        return tooLarge(context)
      }
      if body == nil { body = bytes } else { body?.writeImmutableBuffer(bytes) }
      state = .receiving(head, body)
    case (.end, .receiving(let head, let body)): complete(head, body ?? ByteBuffer(), context)
    default: context.close(promise: nil)
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    // Of HTTP/1.1 the decoder has seen to it; of HTTP/2 the library goes by what the client has agreed to.
    guard !isStream || head.isWithin(limits) else { return headTooLarge(context) }
    if let text = head.headers.first(name: "content-length"), let length = Int(text), length > limits.maximumBodyBytes {
      return tooLarge(context)
    }
    // Who offers another protocol is answered in this one, but the decoder takes what follows for the other.
    let isUpgrade = head.headers.contains(name: "upgrade")
    keepsAlive = keepsAlive && head.isKeepAlive && !isUpgrade && !connections.isDraining
    if let expectation = head.headers.first(name: "expect") {
      guard expectation.lowercased() == "100-continue" else {
        return refuse(context, .expectationFailed, "nothing but Expect: 100-continue is known")
      }
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

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data), case .answering = state else { return context.write(data, promise: promise) }
    guard keepsAlive, !connections.isDraining else {
      state = .closing
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      let written = promise ?? context.eventLoop.makePromise()
      written.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
      return context.write(data, promise: written)
    }
    context.write(data, promise: promise)
    state = .idle
    allow(limits.idleTimeout, context)
    if !waiting.isEmpty {
      // Not from within a write: the next answer may be written at once.
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.execute { bound.value.0.takeWaiting(bound.value.1) }
    }
  }

  private func takeWaiting(_ context: ChannelHandlerContext) {
    let parts = waiting
    waiting = []
    for (index, part) in parts.enumerated() {
      switch state {
      case .idle, .receiving: take(part, context)
      case .answering:
        waiting.append(contentsOf: parts[index...])
        return
      case .closing: return
      }
    }
    context.read()
  }

  private func headTooLarge(_ context: ChannelHandlerContext) {
    refuse(context, .requestHeaderFieldsTooLarge, "the head of the request is too large; send fewer or shorter header fields")
  }

  private func tooLarge(_ context: ChannelHandlerContext) {
    refuse(context, .payloadTooLarge, "the body is longer than \(limits.maximumBodyBytes) bytes")
  }

  /// Answers what cannot become a request, and ends the connection: where the next one begins is not known.
  private func refuse(_ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ message: String) {
    if case .closing = state { return }
    if case .answering(let reply) = state { reply.cancel() }
    state = .closing
    deadline = nil
    let body = ByteBuffer(bytes: RefusalText.json(message, code: RefusalText.code(of: status)))
    let headers: HTTPHeaders = [
      "Content-Type": "application/json", "Content-Length": String(body.readableBytes), "Connection": "close",
    ]
    context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      // The rest of what it sends is thrown away for a moment: closed at once, the system would reset the connection, and the
      // client might never see the answer.
      bound.value.close(mode: .output, promise: nil)
      bound.value.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
    }
  }

  // MARK: Time

  /// Lets the client take this long from now. The timer is set anew only when it fires: most never do.
  private func allow(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let due = NIODeadline.now() + time
    deadline = due
    if !isTimed { arm(due, context) }
  }

  private func arm(_ due: NIODeadline, _ context: ChannelHandlerContext) {
    isTimed = true
    context.eventLoop.watch(self, until: due) { $0.timeIsUp() }
  }

  private func timeIsUp() {
    isTimed = false
    guard let deadline, let context else { return }
    guard deadline <= .now() else { return arm(deadline, context) }
    switch state {
    case .receiving:
      refuse(
        context, .requestTimeout, "the request did not come whole within \(limits.receiveTimeout.nanoseconds / 1_000_000) ms")
    case .idle: context.close(promise: nil)
    case .answering, .closing: break
    }
  }
}
