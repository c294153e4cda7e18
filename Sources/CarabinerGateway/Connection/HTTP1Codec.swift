internal import Carabiner
internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Reads requests from the bytes of a connection and writes responses into them.
///
/// All bytes of a read are passed on at once. ``ConnectionHandler`` suspends reading while it holds parts of later requests.
final class HTTP1Codec: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = RequestPart
  typealias OutboundIn = ReplyPart
  typealias OutboundOut = ByteBuffer

  /// The requests that are read.
  private struct Input: ~Copyable {
    enum State {
      case reading
      /// A request has offered another protocol. Bytes that arrive before the response belong to neither protocol.
      case offered
      /// An error has occurred. The beginning of a next request is not known.
      case failed
    }

    var state = State.reading
    var reader: RequestReader
    var isReading = false
    /// Bytes that arrived while earlier ones were being read. This happens because a flush that fails makes the channel read again.
    var arrived = CircularBuffer<ByteBuffer>(initialCapacity: 0)

    mutating func finishRequest() {
      state = reader.offersUpgrade ? .offered : .reading
      reader.begin()
    }
  }

  /// The responses that are written.
  private struct Output: ~Copyable {
    var writer = MessageWriter()
    var isChunked = false
    /// A head that is written together with the first bytes of its body.
    var unwrittenHead: ByteBuffer?

    mutating func write(_ head: ReplyHead) throws(MessageWriter.Fault) {
      writer.removeAll()
      try writer.beginResponse(status: Int(head.status.code), reason: head.status.reasonPhrase)
      isChunked = head.framing == .chunked
      let fields = head.fields.list
      let bytes = fields.bytes.span
      for index in fields.indices {
        // The writer leaves out fields that frame the body.
        try writer.addField(bytes.extracting(fields.nameRange(at: index)), bytes.extracting(fields.valueRange(at: index)))
      }
      writer.endHead(head.framing)
    }

    mutating func takeHead() -> ByteBuffer? {
      defer { unwrittenHead = nil }
      return unwrittenHead
    }
  }

  @safe @exclusivity(unchecked) private var input: Input
  @safe @exclusivity(unchecked) private var output = Output()
  private var isInPipeline = false
  /// A body up to this size is copied into the buffer of its head, so that the response is one buffer.
  private static let copiedBodyBytes = 16 << 10

  /// The bytes around a chunk.
  private static let chunkOverhead = 20

  init(limits: GatewayLimits) {
    var bounds = HTTP1Limits()
    bounds.headBytes = limits.maximumHeadBytes
    bounds.fields = limits.maximumHeadFields
    input = Input(reader: RequestReader(limits: bounds))
    input.reader.begin()
  }

  func handlerAdded(context: ChannelHandlerContext) { isInPipeline = true }

  func handlerRemoved(context: ChannelHandlerContext) { isInPipeline = false }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    guard !input.isReading else { return input.arrived.append(buffer) }
    input.isReading = true
    read(buffer, context)
    while let next = input.arrived.popFirst() { read(next, context) }
    input.isReading = false
  }

  private func read(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    var (position, start) = (0, 0)
    do throws(HTTP1Error) {
      while case .reading = input.state, position < buffer.readableBytes {
        start = position
        try readPart(of: buffer, &position, context)
      }
    } catch {
      input.state = .failed
      return context.fireErrorCaught(
        InvalidRequest(error, head: input.reader.headers.bytes, rest: buffer.readableBytesView.dropFirst(start)))
    }
    // The client has sent bytes after a request whose upgrade was accepted.
    if position < buffer.readableBytes, !isInPipeline { context.close(promise: nil) }
  }

  private func readPart(of buffer: ByteBuffer, _ position: inout Int, _ context: ChannelHandlerContext) throws(HTTP1Error) {
    switch try input.reader.next(buffer.readableBytesUInt8Span, &position) {
    case .needsBytes: return
    case .head:
      let head = RequestHead(input.reader)
      // Most requests arrive at once. A client that waits for `100 Continue` must get its answer first.
      if let length = input.reader.bodyLength, length <= buffer.readableBytes - position, !input.reader.expectsContinue {
        return try readWhole(head, of: buffer, &position, context)
      }
      context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body(let range):
      if let part = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) {
        context.fireChannelRead(wrapInboundOut(.body(part)))
      }
      guard position == buffer.readableBytes else { return }
      try readPart(of: buffer, &position, context)
    case .end:
      input.finishRequest()
      context.fireChannelRead(wrapInboundOut(.end))
    }
  }

  /// Reads the rest of a request whose body is in the buffer.
  private func readWhole(
    _ head: RequestHead, of buffer: ByteBuffer, _ position: inout Int, _ context: ChannelHandlerContext
  ) throws(HTTP1Error) {
    var body = ByteBuffer()
    while true {
      switch try input.reader.next(buffer.readableBytesUInt8Span, &position) {
      case .body(let range): body = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? body
      case .end:
        input.finishRequest()
        return context.fireChannelRead(wrapInboundOut(.whole(head, body)))
      case .head, .needsBytes: return
      }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { requestsEnded(context) }
    context.fireUserInboundEventTriggered(event)
  }

  /// A request that the client does not complete is an error.
  private func requestsEnded(_ context: ChannelHandlerContext) {
    guard case .reading = input.state, input.reader.hasBegun else { return }
    input.state = .failed
    context.fireErrorCaught(InvalidRequest(input.reader.endedEarly))
  }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      guard begin(head, room: Self.copiedBodyBytes / 8, promise, context), let promise, let bytes = output.takeHead() else {
        return
      }
      context.write(wrapOutboundOut(bytes), promise: promise)
    case .body(let body): write(body, promise, context)
    case .end: writeEnd(promise, context)
    case .whole(let head, let body):
      guard begin(head, room: min(body.readableBytes, Self.copiedBodyBytes), promise, context) else { return }
      if body.readableBytes > 0 { write(body, nil, context) }
      writeEnd(promise, context)
    }
  }

  /// Makes the bytes of a head, which are written with those that follow.
  ///
  /// - Parameters:
  ///   - room: The number of bytes that are likely to follow.
  ///   - promise: Fails if the head is not valid.
  /// - Returns: False if the head is not valid. The connection is closed then.
  private func begin(
    _ head: ReplyHead, room: Int, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
  ) -> Bool {
    do throws(MessageWriter.Fault) {
      try output.write(head)
    } catch {
      // A response without a valid head has no meaning to the client.
      promise?.fail(error)
      context.close(promise: nil)
      return false
    }
    flushHead(context)
    var buffer = context.channel.allocator.buffer(capacity: output.writer.count + room)
    unsafe output.writer.withUnsafeBytes { _ = unsafe buffer.writeBytes($0) }
    output.unwrittenHead = buffer
    return true
  }

  private func writeEnd(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    guard output.isChunked else {
      guard let head = output.takeHead() else {
        if let promise { write(ByteBuffer(), promise, context) }
        return
      }
      return context.write(wrapOutboundOut(head), promise: promise)
    }
    output.writer.removeAll()
    output.writer.endChunks()
    output.isChunked = false
    write(ByteBuffer(bytes: output.writer.bytes), promise, context)
  }

  private func write(_ body: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    let bytes = body.readableBytes
    if output.isChunked {
      guard bytes > 0 else { return pass(body, promise, context) }
      var chunk = context.channel.allocator.buffer(capacity: min(bytes, Self.copiedBodyBytes) + Self.chunkOverhead)
      chunk.writeString(String(bytes, radix: 16) + "\r\n")
      if bytes <= Self.copiedBodyBytes {
        chunk.writeImmutableBuffer(body)
        chunk.writeString("\r\n")
        return pass(chunk, promise, context)
      }
      pass(chunk, nil, context)
      pass(body, nil, context)
      return pass(ByteBuffer(string: "\r\n"), promise, context)
    }
    pass(body, promise, context)
  }

  /// Writes bytes, together with the head if that is not written yet.
  private func pass(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    guard var head = output.unwrittenHead, bytes.readableBytes <= Self.copiedBodyBytes + Self.chunkOverhead else {
      flushHead(context)
      return context.write(wrapOutboundOut(bytes), promise: promise)
    }
    output.unwrittenHead = nil
    head.writeImmutableBuffer(bytes)
    context.write(wrapOutboundOut(head), promise: promise)
  }

  private func flushHead(_ context: ChannelHandlerContext) {
    guard let head = output.takeHead() else { return }
    context.write(wrapOutboundOut(head), promise: nil)
  }

  func flush(context: ChannelHandlerContext) {
    flushHead(context)
    context.flush()
  }
}
