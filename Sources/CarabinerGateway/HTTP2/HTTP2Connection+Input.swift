internal import NIOCore

/// Reads frames, and records what the session finds in them.
extension HTTP2Connection {
  /// Reads bytes of the client.
  func receive(_ bytes: ByteBuffer) {
    input = bytes
    defer { input = ByteBuffer() }
    let span = bytes.readableBytesUInt8Span
    var (position, passed) = (0, 0)
    while let head = heads.next(span, &position) {
      if !endsAnswered(head) { budget.received(head, at: now) }
      guard !budget.isExceeded else { return end(.enhanceYourCalm) }
      guard mayBeLate(head) else { continue }
      // The frames before this one may close its stream.
      let start = max(passed, position - FrameHead.size)
      guard pass(span.extracting(passed..<start)) else { return }
      passed = start
      if session.stream(Int32(head.stream)) == nil, let code = ended.error(of: head) { return end(code) }
    }
    _ = pass(span.extracting(passed..<span.count))
  }

  /// Notes streams that are opened. Returns whether a frame may be for a stream that is closed.
  private func mayBeLate(_ head: FrameHead) -> Bool {
    switch head.kind {
    case FrameHead.Kind.headers:
      guard head.stream > ended.highest else { return true }
      // The client opens streams with odd numbers only.
      guard head.stream & 1 == 1 else { return false }
      ended.opened(head.stream)
      hasLastEnded = head.endsStream
      return false
    case FrameHead.Kind.data:
      // Most data is for the stream that was opened last.
      guard head.stream == ended.highest, !hasLastEnded else { return true }
      hasLastEnded = head.endsStream
      return false
    case FrameHead.Kind.reset:
      if head.stream == ended.highest { hasLastEnded = true }
      return false
    default: return false
    }
  }

  /// Whether the frame resets a stream whose response was sent. Its client could as well have ended the request.
  private func endsAnswered(_ head: FrameHead) -> Bool {
    guard head.kind == FrameHead.Kind.reset, let stream = session.stream(Int32(head.stream)), stream.awaitsEnd else {
      return false
    }
    // Further ones count.
    stream.deadlines.receive = nil
    return true
  }

  private func pass(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return true }
    guard session.read(bytes) else {
      end(.enhanceYourCalm)
      return false
    }
    return true
  }

  // MARK: Events

  /// The session begins to read a head.
  func headBegins(on id: Int32) {
    if let stream = session.stream(id) {
      stream.head.beginTrailers()
      current = stream
      return
    }
    let stream = HTTP2Stream(id, of: self, place: streams.count)
    streams.append(stream)
    session.add(stream)
    current = stream
    allow(terms.limits.receiveTimeout, stream)
  }

  /// The session has read a field of the head.
  ///
  /// - Returns: Whether it reads on; false if the head is too large to be read.
  func received(field name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    guard let current else { return true }
    return current.head.add(name, value, terms.limits)
  }

  /// The session has read data.
  @unsafe func received(data: UnsafeRawBufferPointer, on id: Int32) {
    session.consume(data.count)
    guard let stream = session.stream(id) else { return }
    switch stream.state {
    case .receiving, .uploading, .head: break
    // The window is not returned, so the client cannot send much more.
    case .answering, .answered, .closed: return
    }
    unsafe stream.add(slice(of: data))
    hasArrived(stream)
  }

  /// The bytes of data, which are a part of the input.
  private func slice(of data: UnsafeRawBufferPointer) -> ByteBuffer {
    let offset = unsafe input.withUnsafeReadableBytes { input in
      guard let start = input.baseAddress, let place = data.baseAddress else { return -1 }
      return unsafe place - start
    }
    guard offset >= 0, let slice = input.getSlice(at: input.readerIndex + offset, length: data.count) else {
      return unsafe ByteBuffer(bytes: data)
    }
    return slice
  }

  /// The session has read a frame, or a head with all its frames.
  ///
  /// - Parameter isShutdownPing: Whether it answers the ping of a shutdown.
  func received(_ frame: FrameHead, isShutdownPing: Bool) {
    switch frame.kind {
    case FrameHead.Kind.headers:
      guard let stream = current else { return }
      stream.hasHead = true
      if frame.endsStream { stream.isEndedByClient = true }
      hasArrived(stream)
    case FrameHead.Kind.data:
      guard let stream = session.stream(Int32(frame.stream)) else { return }
      if frame.endsStream {
        stream.isEndedByClient = true
        hasArrived(stream)
      } else if stream.awaitsEnd {
        endIfFull(stream)
      }
    case FrameHead.Kind.reset: session.stream(Int32(frame.stream))?.isEndedByClient = true
    case FrameHead.Kind.ping: if isShutdownPing { hasAcknowledged = true }
    default: break
    }
  }

  private func hasArrived(_ stream: HTTP2Stream) {
    guard !stream.hasArrived else { return }
    stream.hasArrived = true
    arrivals.append(stream)
  }

  /// The session has sent a frame.
  ///
  /// - Parameters:
  ///   - code: The error code of RST_STREAM and GOAWAY.
  ///   - isNotice: Whether the frame announces a shutdown, and a later one has the last stream.
  func sent(_ frame: FrameHead, _ code: UInt32, isNotice: Bool) {
    budget.sent()
    switch frame.kind {
    case FrameHead.Kind.data, FrameHead.Kind.headers:
      if frame.endsStream, let stream = session.stream(Int32(frame.stream)), !stream.isEndedByClient { awaitEnd(of: stream) }
    case FrameHead.Kind.reset:
      // nghttp2 resets a stream whose client ends it early, for example because it has read the refusal.
      guard code != HTTP2ErrorCode.noError.rawValue, session.stream(Int32(frame.stream))?.awaitsEnd != true else { break }
      budget.reset(at: now)
    case FrameHead.Kind.goAway:
      if phase == .ending && !isNotice || code != HTTP2ErrorCode.noError.rawValue { hasSentEnd = true }
    default: break
    }
  }

  /// Lets the client end a stream whose response is complete before its request.
  ///
  /// RST_STREAM with NO_ERROR asks a client to stop sending and to keep the response (RFC 9113, 8.1). But clients lose the response if they
  /// read the frame before they have sent the rest. So they get it only if they send on for long, or nothing at all.
  private func awaitEnd(of stream: HTTP2Stream) {
    guard phase == .open else { return session.reset(stream.id, .noError) }
    now = loop.now
    allow(terms.limits.receiveTimeout, stream)
    endIfFull(stream)
  }

  /// Ends a stream whose response is complete if the client cannot send the rest of the request.
  private func endIfFull(_ stream: HTTP2Stream) {
    if session.isWindowFull(of: stream.id) { session.reset(stream.id, .noError) }
  }

  /// The session has closed a stream, and forgets it.
  func closed(_ id: Int32) {
    guard let stream = session.stream(id) else { return }
    if stream.isEndedByClient { ended.endedByClient(UInt32(id)) }
    if current === stream { current = nil }
    if id == Int32(ended.highest) { hasLastEnded = true }
    // The last stream takes its place.
    guard let last = streams.popLast() else { return }
    if last !== stream {
      streams[stream.place] = last
      last.place = stream.place
    }
    if streams.isEmpty { idleSince = loop.now }
    guard case .answered = stream.state, stream.output.isComplete else { return broken.append(stream) }
    stream.leave()
  }
}
