internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Passes the response on to the session of the connection.
extension HTTP2Stream {
  /// The bytes that a stream has for the session.
  enum Filling {
    case bytes(Int)
    /// The bytes, after which the stream ends.
    case last(Int)
    /// There are none now.
    case none
    case failed
  }

  func write(_ part: ReplyPart, _ promise: EventLoopPromise<Void>?) {
    guard isOpen, let connection else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch part {
    case .head(let head):
      guard head.status.code >= 200 else { return inform(head, connection) }
      begin(head, hasBody: true, connection)
    case .body(let bytes): if add(bytes, promise, connection) { resume(connection) }
    case .end:
      end(connection)
      if let promise { output.add(ByteBuffer(), promise) }
      resume(connection)
    case .whole(let head, let body):
      end(connection)
      guard body.readableBytes == 0 || add(body, nil, connection) else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      if let promise { output.add(ByteBuffer(), promise) }
      begin(head, hasBody: !output.isComplete, connection)
    }
  }

  func flush() { connection?.flush() }

  func abandon() { reset(.cancel) }

  /// Resets the stream.
  func reset(_ code: HTTP2ErrorCode) {
    guard isOpen, let connection else { return }
    connection.session.reset(id, code)
    connection.hasOutput()
    // Not when the frame is sent, which may take long if the client does not read.
    settle()
  }

  private func begin(_ head: ReplyHead, hasBody: Bool, _ connection: HTTP2Connection) {
    output.hasBegun = true
    // A response without a valid head has no meaning to the client.
    guard connection.session.respond(head, on: self, hasBody: hasBody) else { return reset(.internalError) }
    connection.hasOutput(StreamOutput.usualHeadBytes + output.waiting)
  }

  private func inform(_ head: ReplyHead, _ connection: HTTP2Connection) {
    _ = connection.session.inform(head, on: id)
    connection.hasOutput()
  }

  /// Adds bytes. Returns false if too many wait, and the stream is reset.
  private func add(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ connection: HTTP2Connection) -> Bool {
    let count = bytes.readableBytes
    guard connection.unsent.add(count, isOneOfMany: true) else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      reset(.cancel)
      return false
    }
    // The call may have closed the connection.
    guard isOpen else {
      connection.unsent.remove(count)
      promise?.fail(ChannelError.ioOnClosedChannel)
      return false
    }
    // The time runs on while earlier bytes wait: only the client makes progress.
    if output.waiting == 0 { connection.awaitClient(self) }
    output.add(bytes, promise)
    return true
  }

  private func resume(_ connection: HTTP2Connection) {
    guard output.hasBegun else { return }
    if output.isDeferred {
      output.isDeferred = false
      connection.session.resume(id)
    }
    connection.hasOutput(output.waiting)
  }

  /// Notes the end of the response.
  private func end(_ connection: HTTP2Connection) {
    output.isEnded = true
    deadlines.receive = nil
    _ = takeBody()
    switch state {
    case .uploading(let upload):
      state = .answered
      upload.body.end(.failure(CancellationError()))
    case .head, .receiving, .answering, .answered: state = .answered
    case .closed: break
    }
  }

  /// Copies the next bytes of the body for a DATA frame. The session calls it.
  @unsafe func fill(_ target: UnsafeMutableRawBufferPointer) -> Filling {
    guard isOpen, let connection else { return .failed }
    let count = unsafe output.take(target, &connection.taken)
    if count > 0 {
      connection.unsent.remove(count)
      if output.waiting > 0 { connection.awaitClient(self) } else { deadlines.send = nil }
    }
    if output.isComplete { return .last(count) }
    guard count == 0 else { return .bytes(count) }
    output.isDeferred = true
    return .none
  }
}

extension StreamOutput {
  /// The size of most heads of responses in a frame, which is at least the room for one.
  static let usualHeadBytes = 256
}
