internal import Carabiner
internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Sends responses in order, counts their unsent bytes and enforces the send timeout.
extension ConnectionHandler {
  /// The size of the pieces in which a body is written. Each piece that a slow client reads counts as progress.
  private static let pieceSize = 64 << 10

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head: context.write(data, promise: promise)
    case .body(let bytes):
      guard isCounted(bytes, context) || promise != nil else { return context.write(data, promise: nil) }
      writeCounted(bytes, promise, context)
    case .whole(let head, let body):
      guard isCounted(body, context), body.readableBytes > 0 else { fallthrough }
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      writeCounted(body, nil, context)
      write(context: context, data: wrapOutboundOut(.end), promise: promise)
    case .end:
      switch state {
      case .answering(let reply): writeEnd(data, of: reply, promise, context)
      case .uploading(let upload): writeEnd(data, of: upload, promise, context)
      case .idle, .receiving, .sending, .closing: context.write(data, promise: promise)
      }
    }
  }

  /// Whether the bytes of a body are counted. Short responses stay below the channel's own limit, because above it no request is read.
  private func isCounted(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
    bytes.readableBytes > Self.pieceSize || !context.channel.isWritable
  }

  private func writeCounted(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    guard let unsent, unsent.add(bytes.readableBytes, isOneOfMany: false) else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return context.close(promise: nil)
    }
    // The time runs on while earlier bytes wait: only the client makes progress.
    if waiting == 0 { awaitClient(context) }
    waiting += bytes.readableBytes
    var rest = bytes
    while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceSize)), piece.readableBytes > 0 {
      let isLast = rest.readableBytes == 0
      let left = isLast ? promise ?? context.eventLoop.makePromise() : context.eventLoop.makePromise()
      let size = piece.readableBytes
      left.futureResult.assumeIsolated().whenComplete { _ in self.hasLeft(size, unsent) }
      context.write(wrapOutboundOut(.body(piece)), promise: left)
    }
  }

  private func hasLeft(_ size: Int, _ unsent: UnsentBytes) {
    waiting -= size
    unsent.remove(size)
    guard let context else { return }
    if waiting > 0 { awaitClient(context) } else { clearSendDeadline() }
  }

  private func clearSendDeadline() {
    switch state {
    case .sending, .closing: break
    case .idle, .receiving, .uploading, .answering: deadlines.send = nil
    }
  }

  private func writeEnd(
    _ data: NIOAny, of reply: GatewayReply, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
  ) {
    let isLast = input.isHalfClosed && input.held.isEmpty
    guard keepsAlive, reply.leavesOpen, !isLast else {
      state = .closing
      awaitClient(context)
      let written = promise ?? context.eventLoop.makePromise()
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      written.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
      return context.write(data, promise: written)
    }
    context.write(data, promise: promise)
    // A head that cannot be written closes the connection.
    guard case .answering = state else { return }
    guard context.channel.isWritable else {
      state = .sending
      return awaitClient(context)
    }
    becomeFree(context)
  }

  /// Closes a connection without a request in progress once the client has received the whole last response.
  func closeWhenSent(_ context: ChannelHandlerContext) {
    state = .closing
    guard let options = context.channel.syncOptions,
      let bytes = try? options.getOption(.bufferedWritableBytes), bytes > 0
    else { return context.close(promise: nil) }
    awaitClient(context)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.body(ByteBuffer()))).whenComplete { _ in
      bound.value.close(promise: nil)
    }
  }

  // MARK: Refusals

  func refuse(_ request: InvalidRequest, _ context: ChannelHandlerContext) {
    let error = request.error
    switch error.code {
    case .headTooLarge: refuse(.headTooLarge, to: request.headers, context)
    case .badHost, .unsupportedCoding, .unsupportedExpectation, .unsupportedMethod, .unsupportedVersion:
      refuse(HTTPRefusal(status: HTTPResponseStatus(statusCode: error.status), message: error.reason), context)
    case .malformedHead, .ambiguousLength, .malformedChunk, .endedEarly, .unexpectedUpgrade:
      refuse(HTTPRefusal(status: .badRequest, message: "this is not a valid HTTP request: \(error.reason)"), context)
    }
  }

  /// Responds to input that is not a valid request, and closes the connection: the start of the next request is unknown.
  ///
  /// - Parameter request: The fields of the request that are known; those of a request that is being received replace them.
  func refuse(_ refusal: HTTPRefusal, to request: Carabiner.HTTPHeaders = [:], _ context: ChannelHandlerContext) {
    if case .closing = state { return }
    var known = request
    if case .receiving(let received) = state { known = received.headers }
    state = .closing
    input.body = ByteBuffer()
    deadlines.receive = nil
    awaitClient(context)
    let (headers, body) = handler.refusal(refusal.status, refusal.message)
    var fields = ReplyFields(headers)
    for (name, value) in handler.refusalFields(known) { fields.add(name, value) }
    fields.set("Date", DateField.now)
    fields.set("Connection", "close")
    let replyHead = ReplyHead(status: refusal.status, fields: fields, framing: .length(body.readableBytes))
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.whole(replyHead, body))).whenComplete { _ in bound.value.closeDiscarding() }
  }

  /// Closes a connection whose client may still be sending.
  ///
  /// Further input is discarded for one second, and up to a number of bytes. If the connection were closed at once, the system would
  /// reset it, and the client might never read the response.
  func closeDiscarding() {
    guard let context else { return }
    input.discardable = limits.maximumDiscardedBytes
    context.close(mode: .output, promise: nil)
    connections.timers.call(self, after: .seconds(1), on: context.eventLoop) { $0.context?.close(promise: nil) }
  }

  /// Discards input of a connection that is being closed.
  func discard(_ part: RequestPart, _ context: ChannelHandlerContext) {
    guard case .body(let bytes) = part, let left = input.discardable else { return }
    input.discardable = left - bytes.readableBytes
    if left < bytes.readableBytes { context.close(promise: nil) }
  }

  // MARK: Time

  /// Sets the receive deadline.
  func allow(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let due = context.eventLoop.now + time
    deadlines.receive = due
    if !deadlines.areTimed { addToClock(due, context) }
  }

  /// Sets the time by which the client must have read some of the data that is written.
  func awaitClient(_ context: ChannelHandlerContext) {
    let due = context.eventLoop.now + limits.sendTimeout
    deadlines.send = due
    if !deadlines.areTimed { addToClock(due, context) }
  }

  private func addToClock(_ due: NIODeadline, _ context: ChannelHandlerContext) {
    // The clock would keep the handler of a closed channel.
    guard context.channel.isActive else { return }
    deadlines.areTimed = true
    clock.add(self, until: due)
  }

  /// Acts on a deadline that has passed.
  ///
  /// - Returns: The next deadline; nil if there is none, and the clock need not call again.
  func checkDeadlines(_ now: NIODeadline) -> NIODeadline? {
    if let context { act(on: now, context) }
    let next = context == nil ? nil : deadlines.first
    deadlines.areTimed = next != nil
    return next
  }

  private func act(on now: NIODeadline, _ context: ChannelHandlerContext) {
    if let due = deadlines.send, due <= now { return context.close(promise: nil) }
    guard let due = deadlines.receive, due <= now else { return }
    deadlines.receive = nil
    switch state {
    case .receiving:
      refuse(.late(limits), context)
    case .uploading(let upload): uploadIsLate(upload, context)
    case .idle: context.close(promise: nil)
    case .answering, .sending, .closing: break
    }
  }
}
