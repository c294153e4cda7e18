internal import CarabinerHTTP1
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

/// Passes the body of an upload on while it arrives.
extension ConnectionHandler {
  /// Lets the request be handled before its body has arrived.
  func beginUpload(_ head: RequestHead, _ context: ChannelHandlerContext) {
    let reply = GatewayReply(channel: context.channel, of: connections, to: head, keepsAlive: keepsAlive, isUpload: true)
    let loop = context.eventLoop
    let bound = NIOLoopBound(self, eventLoop: loop)
    let body = InboundBody { loop.execute { bound.value.resumeReading() } }
    state = .uploading(InboundUpload(reply: reply, body: body, end: loop.now + limits.uploadTimeout))
    awaitBytes(before: loop.now + limits.uploadTimeout, context)
    handler.handle(
      GatewayRequest(head: head, body: ByteBuffer(), origin: terms.origin.origin(of: head), upload: body), reply)
  }

  func take(_ part: RequestPart, of upload: InboundUpload, _ context: ChannelHandlerContext) {
    switch part {
    case .body(let bytes):
      var upload = upload
      upload.received += bytes.readableBytes
      state = .uploading(upload)
      guard upload.received <= limits.maximumUploadBytes else {
        return fail(upload, .uploadTooLarge(limits))
      }
      upload.body.add(bytes)
      awaitBytes(before: upload.end, context)
    case .end:
      deadlines.receive = nil
      upload.reply.received()
      state = .answering(upload.reply)
      upload.body.end(.success(()))
    case .head, .whole: context.close(promise: nil)
    }
  }

  // MARK: A body that does not arrive

  private func fail(_ upload: InboundUpload, _ refusal: HTTPRefusal) {
    deadlines.receive = nil
    upload.fail(refusal)
  }

  /// Fails an upload whose body is not valid HTTP.
  func breakOff(_ upload: InboundUpload, _ error: HTTP1Error) {
    fail(upload, HTTPRefusal(status: .badRequest, message: "this is not a valid HTTP request: \(error.reason)"))
  }

  func uploadIsLate(_ upload: InboundUpload, _ context: ChannelHandlerContext) {
    fail(upload, upload.lateness(at: context.eventLoop.now, limits))
  }

  /// Sets the time by which more bytes must arrive.
  private func awaitBytes(before end: NIODeadline, _ context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    allow(min(limits.receiveTimeout, end - now), context)
  }

  // MARK: Back-pressure

  /// Stops reading until the operation has read. Meanwhile only the timeout of the whole upload applies.
  func suspend(_ upload: InboundUpload) {
    input.owesRead = true
    if deadlines.receive != nil { deadlines.receive = upload.end }
  }

  private func resumeReading() {
    if let context, input.owesRead { read(context: context) }
  }

  /// Notes that reading has continued. From now on, the timeout between two parts of the upload applies again.
  func endSuspension(_ context: ChannelHandlerContext) {
    guard input.owesRead else { return }
    input.owesRead = false
    if case .uploading(let upload) = state, deadlines.receive != nil { awaitBytes(before: upload.end, context) }
  }

  // MARK: A response before the end of the body

  /// Ends a response that is complete while the client is still sending, and closes the connection.
  func writeEnd(
    _ data: NIOAny, of upload: InboundUpload, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
  ) {
    state = .closing
    deadlines.receive = nil
    upload.body.end(.failure(CancellationError()))
    awaitClient(context)
    let written = promise ?? context.eventLoop.makePromise()
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    written.futureResult.whenComplete { _ in bound.value.closeDiscarding() }
    context.write(data, promise: written)
    if input.owesRead {
      input.owesRead = false
      context.read()
    }
  }
}
