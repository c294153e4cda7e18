internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Passes requests on when the session has read them.
extension HTTP2Connection {
  func serveArrivals() {
    settleBroken()
    var index = 0
    while index < arrivals.count {
      let stream = arrivals[index]
      index += 1
      stream.hasArrived = false
      serve(stream)
    }
    arrivals.removeAll(keepingCapacity: true)
  }

  /// Ends the streams that the session has closed.
  func settleBroken() {
    while let stream = broken.popLast() {
      stream.settle()
      stream.leave()
    }
  }

  private func serve(_ stream: HTTP2Stream) {
    switch stream.state {
    case .head where stream.hasHead: begin(stream)
    case .receiving(let head): takeBody(of: head, stream)
    case .uploading(let upload): take(upload, stream)
    case .head, .answering, .answered, .closed: break
    }
  }

  /// Checks a head, and begins its request.
  private func begin(_ stream: HTTP2Stream) {
    renewTerms()
    let headers = stream.head.headers
    guard !stream.head.isTooLarge else { return refuse(.headTooLarge, stream) }
    guard stream.head.hasValidHost else { return stream.reset(.protocolError) }
    let check: RequestHeadCheck
    let isUpload: Bool
    let head: RequestHead
    do throws(HTTPRefusal) {
      check = try RequestHeadCheck(headers)
      guard stream.head.method != .CONNECT else { throw .unsupportedConnect }
      head = RequestHead(
        method: stream.head.method, target: stream.head.target, version: .http2, headers: headers, keepsAlive: false, check: check
      )
      isUpload = check.mayBeForm && handler.takesUpload(head)
      if check.bodyLength > (isUpload ? terms.limits.maximumUploadBytes : terms.limits.maximumBodyBytes) {
        throw isUpload ? .uploadTooLarge(terms.limits) : .bodyTooLarge(terms.limits)
      }
    } catch {
      return refuse(error, stream)
    }
    if check.expectsContinue, !stream.isEndedByClient {
      stream.write(.head(ReplyHead(status: .continue, fields: [:])), nil)
    }
    guard !isUpload else { return beginUpload(head, stream) }
    stream.state = .receiving(head)
    if !stream.isEndedByClient { allow(terms.limits.receiveTimeout, stream) }
    takeBody(of: head, stream)
  }

  private func takeBody(of head: RequestHead, _ stream: HTTP2Stream) {
    guard stream.bodyBytes <= terms.limits.maximumBodyBytes else { return refuse(.bodyTooLarge(terms.limits), stream) }
    guard stream.isEndedByClient else {
      stream.returnWindow()
      return stream.keepBody()
    }
    stream.deadlines.receive = nil
    let reply = GatewayReply(to: head, on: stream, of: unsent.channel, connections)
    let request = GatewayRequest(head: head, body: stream.takeBody(), origin: terms.origin.origin(of: head))
    stream.state = .answering(reply)
    handler.handle(request, reply)
  }

  /// Responds to a request that is not accepted.
  func refuse(_ refusal: HTTPRefusal, _ stream: HTTP2Stream) {
    let (headers, body) = handler.refusal(refusal.status, refusal.message)
    var fields = ReplyFields(headers)
    for (name, value) in handler.refusalFields(stream.head.headers) { fields.add(name, value) }
    fields.set("Date", DateField.now)
    let head = ReplyHead(status: refusal.status, fields: fields, framing: .length(body.readableBytes))
    stream.write(.whole(head, stream.head.method == .HEAD ? ByteBuffer() : body), nil)
  }

  // MARK: Uploads

  /// Lets the request be handled before its body has arrived.
  private func beginUpload(_ head: RequestHead, _ stream: HTTP2Stream) {
    let reply = GatewayReply(to: head, on: stream, of: unsent.channel, connections, isUpload: true)
    // Each byte that is not read holds the window of the stream.
    let body = InboundBody(window: 1) { [loop] in loop.execute { stream.resumeReading() } }
    let upload = InboundUpload(reply: reply, body: body, end: now + terms.limits.uploadTimeout)
    stream.state = .uploading(upload)
    awaitBytes(of: upload, stream)
    handler.handle(
      GatewayRequest(head: head, body: ByteBuffer(), origin: terms.origin.origin(of: head), upload: body), reply)
    if case .uploading(let upload) = stream.state { take(upload, stream) }
  }

  private func take(_ upload: InboundUpload, _ stream: HTTP2Stream) {
    let bytes = stream.takeBody()
    if bytes.readableBytes > 0 {
      var upload = upload
      upload.received += bytes.readableBytes
      stream.state = .uploading(upload)
      guard upload.received <= terms.limits.maximumUploadBytes else {
        return fail(upload, .uploadTooLarge(terms.limits), stream)
      }
      upload.body.add(bytes)
      if upload.body.isFull() {
        // The client is not late until the operation has read.
        if stream.deadlines.receive != nil { stream.deadlines.receive = upload.end }
      } else {
        stream.returnWindow()
        awaitBytes(of: upload, stream)
      }
    }
    guard stream.isEndedByClient else { return }
    stream.deadlines.receive = nil
    upload.reply.received()
    stream.state = .answering(upload.reply)
    upload.body.end(.success(()))
  }

  /// Sets the time by which more bytes must arrive.
  func awaitBytes(of upload: InboundUpload, _ stream: HTTP2Stream) {
    allow(min(terms.limits.receiveTimeout, upload.end - now), stream)
  }

  /// Fails the upload. The operation that reads its body then answers the request.
  private func fail(_ upload: InboundUpload, _ refusal: HTTPRefusal, _ stream: HTTP2Stream) {
    stream.deadlines.receive = nil
    stream.owed = 0
    upload.fail(refusal)
  }

  // MARK: Time

  /// Acts on a receive deadline that has passed.
  func isLate(_ stream: HTTP2Stream) {
    switch stream.state {
    // Nothing of the other streams can arrive before the end of a head.
    case .head: end(.noError)
    case .receiving: refuse(.late(terms.limits), stream)
    case .uploading(let upload): fail(upload, upload.lateness(at: now, terms.limits), stream)
    case .answered: stream.reset(.noError)
    case .answering, .closed: break
    }
  }
}

extension HTTPRefusal {
  fileprivate static let unsupportedConnect = Self(status: .notImplemented, message: "CONNECT is not supported")
}
