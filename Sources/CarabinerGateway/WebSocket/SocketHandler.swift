internal import Carabiner
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// Serves one WebSocket. It is installed when the handshake response is written, and removed when the connection closes.
final class SocketHandler: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// The time that a client has to answer a close frame.
  private static let closeGrace = TimeAmount.seconds(1)
  /// Messages up to this size are not counted while the client reads. They stay below the channel's own limit.
  private static let uncountedBytes = 64 << 10

  private let service: SocketService
  private let connections: OpenConnections
  private let client: String
  private let path: String
  private let isSecure: Bool
  private let forwarded: ForwardedFields?
  private let requestID: String
  private(set) var headers: Carabiner.HTTPHeaders
  private var frames: FrameAssembly
  private var conversation: SocketConversation
  private var context: ChannelHandlerContext?
  private var operations: [String: SocketOperation] = [:]
  /// The number of running operations, including those that the client has ended but that have not stopped yet.
  private var underWay = 0
  private var isClosing = false
  /// Whether the client has shown activity since the last keep-alive check.
  private var isAlive = true
  private var holdsRead = false
  /// The unsent bytes of messages of this connection.
  private var unsent: UnsentBytes?

  init(_ accepted: AcceptedSocket, connections: OpenConnections) {
    service = accepted.service
    conversation = SocketConversation(accepted.dialect)
    headers = accepted.headers
    client = accepted.client
    path = accepted.path
    isSecure = accepted.isSecure
    forwarded = accepted.forwarded
    requestID = RequestID.of(accepted.headers)
    self.connections = connections
    let limits = accepted.service.limits
    frames = FrameAssembly(maximumMessageBytes: limits.maximumMessageBytes, maximumFragments: limits.maximumFragments)
  }

  private var dialect: WebSocketProtocol { conversation.dialect }

  var maximumMessageBytes: Int { service.limits.maximumMessageBytes }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    unsent = UnsentBytes(context.channel, of: connections.unsent)
    service.metrics.socketOpened()
    after(service.limits.receiveTimeout, context) { handler, _ in
      guard !handler.conversation.isInitialised else { return }
      handler.close(.initialisationTimeout, "Connection initialisation timeout")
    }
    keepAlive(context)
    closeIfDrained()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    isClosing = true
    connections.remove(context.channel)
    service.metrics.socketClosed()
    cancelAll()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed: context.close(promise: nil)
    case is OpenConnections.Drain: closeIfDrained()
    case is UnsentBytes.Overflow: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength:
      close(.messageTooLarge, "a message has at most \(maximumMessageBytes) bytes")
    case is NIOWebSocketError: close(.protocolError, "a control frame is too long or fragmented")
    default: context.close(promise: nil)
    }
  }

  /// If the server closes the connection at the end of a shutdown, the client gets a close frame.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if !isClosing {
      isClosing = true
      service.metrics.closing(.goingAway)
      context.writeAndFlush(wrapOutboundOut(.closing(.goingAway, reason: "the server stops")), promise: nil)
    }
    context.close(mode: mode, promise: promise)
  }

  // MARK: Back-pressure

  /// While the client does not read, its messages are not read either. Otherwise responses would accumulate here.
  func read(context: ChannelHandlerContext) {
    holdsRead = !context.channel.isWritable && !isClosing
    if !holdsRead { context.read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if holdsRead, context.channel.isWritable {
      holdsRead = false
      context.read()
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Frames

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    isAlive = true
    if isClosing {
      // The client's answer to the close frame, or its own close frame sent at the same time.
      if frame.opcode == .connectionClose { context.close(promise: nil) }
      return
    }
    switch frames.take(frame) {
    case .nothing: break
    case .text(let text):
      react(to: conversation.received(Array(text.readableBytesView)) { operations[$0] != nil })
    case .ping(let data):
      // Pongs to a client that does not read them would fill the memory.
      guard context.channel.isWritable else { return }
      context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: data)), promise: nil)
    case .close(let code):
      isClosing = true
      cancelAll()
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(.closing(code, reason: ""))).whenComplete { _ in bound.value.close(promise: nil) }
    case .violation(let code, let reason): close(code, reason)
    }
  }

  private func react(to reaction: SocketConversation.Reaction) {
    switch reaction {
    case .none: break
    case .acknowledge(let payload): introduce(payload)
    case .pong(let payload): if context?.channel.isWritable == true { send([ServerMessage.pong(payload: payload)], nil) }
    case .begin(let id, let parameters): begin(id, parameters)
    case .end(let id): operations.removeValue(forKey: id)?.cancel()
    case .close(let code, let reason): close(code, reason)
    }
  }

  // MARK: Operations

  /// Adds the fields of `connection_init` to those of the handshake.
  private func introduce(_ payload: [UInt8]?) {
    do throws(ConnectionInitHeaders.Fault) {
      headers = try service.headers(headers, with: payload)
    } catch {
      if dialect == .graphQLWS { send([ServerMessage.refusal("Invalid message received: \(error.reason)")], nil) }
      return close(.badRequest, "Invalid message received: \(error.reason)")
    }
    // Clients of the older protocol expect keep-alive messages only after they have received the first, so it is sent at once.
    send(dialect == .graphQLWS ? [ServerMessage.acknowledgement, ServerMessage.keepAlive] : [ServerMessage.acknowledgement], nil)
  }

  private func begin(_ id: String, _ parameters: GraphQLParameters) {
    guard let context else { return }
    do throws(RequestRefusal) {
      // The event of the shutdown may reach this connection later than others.
      guard !connections.isDraining else { throw RequestRefusal.shuttingDown }
      guard underWay < service.limits.maximumOperationsPerSocket else {
        throw RequestRefusal(
          429, "this connection has \(underWay) operations in progress, which is the limit; end some of them",
          code: "TOO_MANY_REQUESTS")
      }
      let operation = SocketOperation(id: id, dialect, try service.operation(parameters))
      let link = SocketLink(
        headers: headers, client: client, path: path, isSecure: isSecure, forwarded: forwarded, requestID: requestID,
        loop: context.eventLoop,
        socket: NIOLoopBound(self, eventLoop: context.eventLoop))
      try service.admit(operation, link)
      service.metrics.began()
      operations.updateValue(operation, forKey: id)?.cancel()
      underWay += 1
    } catch {
      service.metrics.refused()
      send(
        [ServerMessage.errors(id: id, RefusalText.list(error.message, code: error.code, error.extensions).serialized(), dialect)],
        nil)
    }
  }

  /// Sends a message of an operation, unless the client has ended the operation.
  func send(_ operation: SocketOperation, _ text: [UInt8], _ promise: EventLoopPromise<Void>) {
    guard operations[operation.id] === operation else { return promise.fail(CancellationError()) }
    promise.futureResult.assumeIsolated().whenSuccess { self.isAlive = true }
    guard !send([text], promise, isResult: true) else { return }
    promise.fail(CancellationError())
    operation.cancel()
    operations[operation.id] = nil
    refuseForUnsent(operation)
  }

  /// Ends an operation and sends its last messages.
  func end(_ operation: SocketOperation, _ texts: [[UInt8]]) {
    underWay -= 1
    guard operations[operation.id] === operation else { return }
    operations[operation.id] = nil
    if send(texts, nil, isResult: true) { closeIfDrained() } else { refuseForUnsent(operation) }
  }

  /// Sends an error instead of a result for which there is no room.
  private func refuseForUnsent(_ operation: SocketOperation) {
    let text = RefusalText.list(
      "too many bytes of this connection wait to be sent; read faster, or use more connections", code: "TOO_MANY_UNSENT_BYTES")
    send([ServerMessage.errors(id: operation.id, text.serialized(), dialect)], nil)
    closeIfDrained()
  }

  private func cancelAll() {
    for operation in operations.values { operation.cancel() }
    operations = [:]
  }

  /// - Parameter isResult: Whether the messages are a result, which is not sent if this connection has too many unsent bytes.
  /// - Returns: False if the messages are not sent for that reason. The promise is not completed then.
  @discardableResult
  private func send(_ texts: [[UInt8]], _ promise: EventLoopPromise<Void>?, isResult: Bool = false) -> Bool {
    guard let context, !isClosing else {
      promise?.fail(CancellationError())
      return true
    }
    var promise = promise
    let size = texts.reduce(0) { $0 + $1.count }
    if size > 0, size > Self.uncountedBytes || !context.channel.isWritable, let unsent {
      guard unsent.add(size, isOneOfMany: isResult) else { return false }
      let written = promise ?? context.eventLoop.makePromise()
      written.futureResult.whenComplete { _ in unsent.remove(size) }
      promise = written
    }
    for text in texts.dropLast() { context.write(frame(text), promise: nil) }
    if let last = texts.last { context.writeAndFlush(frame(last), promise: promise) }
    return true
  }

  private func frame(_ text: [UInt8]) -> NIOAny {
    wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: text)))
  }

  // MARK: The end

  /// If the server shuts down, queries and mutations may finish, and subscriptions are ended so that clients reconnect elsewhere.
  private func closeIfDrained() {
    guard connections.isDraining, !operations.values.contains(where: \.isFinite) else { return }
    close(.goingAway, "the server stops")
  }

  /// Sends a close frame, waits for the client's one for a second, and closes the connection.
  private func close(_ code: WebSocketCloseCode, _ reason: String) {
    guard !isClosing, let context else { return }
    isClosing = true
    cancelAll()
    service.metrics.closing(code)
    context.writeAndFlush(wrapOutboundOut(.closing(code, reason: reason)), promise: nil)
    // The client's close frame must be read, also if reading is suspended.
    if holdsRead {
      holdsRead = false
      context.read()
    }
    after(Self.closeGrace, context) { _, context in context.close(promise: nil) }
  }

  // MARK: Time

  /// Sends pings at the keep-alive interval, and closes the connection of a client that shows no activity in between.
  private func keepAlive(_ context: ChannelHandlerContext) {
    after(service.limits.keepAlive, context) { handler, context in
      guard !handler.isClosing else { return }
      guard handler.isAlive else { return handler.close(.goingAway, "no sign of life") }
      handler.isAlive = false
      let ping = WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())
      if context.channel.isWritable {
        if handler.dialect == .graphQLWS { handler.send([ServerMessage.keepAlive], nil) }
        context.writeAndFlush(handler.wrapOutboundOut(ping), promise: nil)
      }
      handler.keepAlive(context)
    }
  }

  private func after(
    _ time: TimeAmount, _ context: ChannelHandlerContext,
    _ body: @escaping @Sendable (SocketHandler, ChannelHandlerContext) -> Void
  ) {
    connections.timers.call(self, after: time, on: context.eventLoop) { handler in
      if let context = handler.context { body(handler, context) }
    }
  }
}
