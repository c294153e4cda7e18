internal import CarabinerHTTP1
package import NIOCore
package import NIOHTTP1
internal import Synchronization

/// The response to one request. Its methods may be called from any thread.
package final class GatewayReply: Sendable {
  private struct State {
    var isOver = false
    /// Whether the response ends because the server shuts down.
    var isDrained = false
    /// Whether the body of the request is still arriving.
    var isReceiving = false
    /// Whether the connection is closed after the response, because the body of the request is still arriving.
    var closesAfter = false
    /// Whether the body ends when the connection is closed.
    var endsByClosing = false
    /// The task that produces the response; cancelled if the client disconnects.
    var task: Task<Void, Never>?
    /// A complete response that is not written yet.
    var whole: ReplyPart?
    /// The number of bytes of pieces that the system has not accepted.
    var unaccepted = 0
  }

  /// The connection.
  let channel: any Channel
  /// The stream of an HTTP/2 connection; nil for HTTP/1.1, where the pipeline of the connection takes the response.
  private let stream: (any StreamOutlet)?
  let connections: OpenConnections
  /// Whether the client uses HTTP/1.0, which has no chunked coding and closes the connection by default.
  private let isOld: Bool
  /// Whether the connection stays open for more requests.
  private let keepsAlive: Bool
  /// Whether the request method is HEAD, whose response has no body.
  private let isWithoutBody: Bool
  /// Whether the request is handled while its body is arriving.
  private let isUpload: Bool
  private let state: Mutex<State>

  /// The response to a request over HTTP/1.1.
  init(
    channel: any Channel, of connections: OpenConnections, to head: RequestHead, keepsAlive: Bool, isUpload: Bool = false
  ) {
    self.channel = channel
    stream = nil
    self.connections = connections
    self.isUpload = isUpload
    state = Mutex(State(isReceiving: isUpload))
    isOld = head.version == .http1_0
    self.keepsAlive = keepsAlive
    isWithoutBody = head.method == .HEAD
  }

  /// The response to a request over HTTP/2.
  init(
    to head: RequestHead, on stream: any StreamOutlet, of channel: any Channel, _ connections: OpenConnections,
    isUpload: Bool = false
  ) {
    self.channel = channel
    self.stream = stream
    self.connections = connections
    self.isUpload = isUpload
    state = Mutex(State(isReceiving: isUpload))
    isOld = false
    keepsAlive = false
    isWithoutBody = head.method == .HEAD
  }

  /// Whether the response is complete or the client has disconnected.
  var isOver: Bool { state.withLock(\.isOver) }

  /// Sets the task that produces the response. It is cancelled if the client disconnects before the response is complete, or has done so
  /// already.
  package func answered(by task: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.task = task }
      return state.isOver || state.isDrained
    }
    if isOver { task.cancel() }
  }

  /// Sets the task that reads the request. It is cancelled if the client disconnects. It may have passed the request on already.
  func prepared(by task: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver, state.task == nil { state.task = task }
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  /// Marks the response as over because the client has disconnected, and cancels its task.
  func cancel() {
    let task = state.withLock { state in
      defer { state.task = nil }
      state.isOver = true
      return state.task
    }
    task?.cancel()
  }

  // MARK: The end of the server

  /// Whether the task was cancelled because the server shuts down. The client is still there.
  var isDrained: Bool { state.withLock { $0.isDrained && !$0.isOver } }

  /// Cancels the task when the server begins to shut down, because the response does not end by itself. Ends with ``endEndless()``.
  func beginEndless() { connections.add(endless: self) }

  func endEndless() { connections.remove(endless: self) }

  func drain() {
    let task = state.withLock { state in
      state.isDrained = true
      return state.task
    }
    task?.cancel()
  }

  /// Notes that the body of an upload has arrived.
  func received() { state.withLock { $0.isReceiving = false } }

  // MARK: Whole answers

  /// Sends a complete response.
  package func answer(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer) {
    prepare(status, fields, body)
    onLoop { [self] in
      writeWhole()
      flush()
    }
  }

  /// Sends a complete response, batched with others.
  ///
  /// - Parameter executor: The executor on which responses are produced.
  func answer(
    _ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer, in batch: ResponseBatcher,
    from executor: any TaskExecutor
  ) {
    prepare(status, fields, body)
    guard channel.eventLoop.inEventLoop else { return batch.add(self, from: executor) }
    writeWhole()
    flush()
  }

  /// Completes the head of a complete response, which ``writeWhole()`` writes.
  private func prepare(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer) {
    let status = status.asFinal
    // The response to HEAD has the length that the response to GET would have. `Content-Length: 0` is sent for statuses that may have
    // a body (RFC 9110, 8.6).
    let framing: MessageWriter.Framing =
      status.hasBody ? .length(body.readableBytes) : status == .resetContent ? .length(0) : .none
    if !status.hasBody { fields.remove("Content-Type") }
    let isWithoutBody = isWithoutBody || !status.hasBody
    complete(&fields, endsByClosing: false)
    let part = ReplyPart.whole(
      ReplyHead(status: status, fields: fields, framing: framing), isWithoutBody ? ByteBuffer() : body)
    state.withLock { state in
      state.isOver = true
      state.task = nil
      state.whole = part
    }
  }

  /// Writes a complete response, and ``flush()`` sends it. Called on the connection's event loop.
  func writeWhole() {
    let whole = state.withLock { state in
      defer { state.whole = nil }
      return state.whole
    }
    if let whole { write(whole) }
  }

  /// Sends what was written to streams. Called on the connection's event loop.
  func flush() { stream?.flush() }

  /// Writes a part. Called on the connection's event loop.
  ///
  /// - Parameter isFollowed: Whether another part follows now, with which it is sent. Streams wait for ``flush()`` in any case.
  private func write(_ part: ReplyPart, _ promise: EventLoopPromise<Void>? = nil, isFollowed: Bool = false) {
    if let stream { return stream.write(part, promise) }
    let pipeline = channel.pipeline.syncOperations
    guard isFollowed else { return pipeline.writeAndFlush(NIOAny(part), promise: promise) }
    pipeline.write(NIOAny(part), promise: promise)
  }

  // MARK: Answers in pieces

  /// Begins a response in pieces.
  ///
  /// - Parameters:
  ///   - length: The length of all pieces; nil if it is not known.
  ///   - hasPiece: Whether a piece follows now, with which the head is sent.
  package func begin(
    _ status: HTTPResponseStatus, _ fields: consuming ReplyFields, length: Int? = nil, hasPiece: Bool = false
  ) {
    // A response to HEAD is not chunked, because the encoder would end it with a last chunk (RFC 9112, 6.1).
    let framing: MessageWriter.Framing =
      isOld || isWithoutBody ? .none : length.map { .length($0) } ?? (stream == nil ? .chunked : .none)
    if isOld { state.withLock { $0.endsByClosing = true } }
    complete(&fields, endsByClosing: isOld)
    let head = ReplyHead(status: status, fields: fields, framing: framing)
    onLoop { [self] in
      write(.head(head), isFollowed: hasPiece)
      if !hasPiece { flush() }
    }
  }

  /// The most bytes that a response in pieces may be ahead of the system.
  private static let bytesAhead = 16 << 10

  /// Sends a piece. If many bytes wait, returns once the system has accepted it.
  ///
  /// - Throws: The error that closed the connection, if it has waited. A client that disconnects also cancels the task of the response.
  package func send(_ bytes: ByteBuffer) async throws {
    if isWithoutBody { return }
    let count = bytes.readableBytes
    let waits = state.withLock { state in
      state.unaccepted += count
      return state.unaccepted > Self.bytesAhead
    }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.whenComplete { [self] _ in state.withLock { $0.unaccepted -= count } }
    send(.body(bytes), promise)
    // Resuming a task for each event of a subscription would cost more than the event.
    if waits { try await promise.futureResult.get() }
  }

  /// Ends a response in pieces with a last piece.
  package func endWith(_ bytes: ByteBuffer) {
    finish()
    onLoop { [self] in
      if bytes.readableBytes > 0, !isWithoutBody {
        write(.body(bytes), isFollowed: true)
      }
      write(.end)
      flush()
    }
  }

  /// Closes the connection of a response that cannot be completed, or resets its stream. The client sees that it is incomplete.
  package func abandon() {
    // If the response is complete or the client has disconnected, there is nothing to abandon.
    guard finish() else { return }
    guard let stream else { return channel.close(promise: nil) }
    onLoop {
      stream.abandon()
      stream.flush()
    }
  }

  // MARK: Parts of all of them

  /// Whether the connection stays open after the response.
  var leavesOpen: Bool {
    guard isUpload || isOld else { return keepsAlive }
    return keepsAlive && state.withLock { state in !state.closesAfter && !(isOld && state.endsByClosing) }
  }

  /// Marks the response as over.
  ///
  /// - Returns: Whether it was not over before.
  @discardableResult private func finish() -> Bool {
    state.withLock { state in
      defer { state.isOver = true }
      state.task = nil
      return !state.isOver
    }
  }

  /// Adds the fields about the message and the connection.
  private func complete(_ fields: inout ReplyFields, endsByClosing: Bool) {
    fields.set("Date", DateField.now)
    if stream != nil {
      // HTTP/2 has no fields about the connection.
    } else if !keepsAlive || endsByClosing || isUpload && closesAfterUpload() {
      fields.set("Connection", "close")
    } else if isOld {
      fields.set("Connection", "keep-alive")
    }
  }

  /// Decides that the connection is closed after the response if the rest of the request would have to be read first.
  private func closesAfterUpload() -> Bool {
    state.withLock { state in
      state.closesAfter = state.isReceiving
      return state.closesAfter
    }
  }

  /// Sends a part from any thread.
  func send(_ part: ReplyPart, _ promise: EventLoopPromise<Void>? = nil) {
    onLoop { [self] in
      write(part, promise)
      flush()
    }
  }

  /// Whether the client can receive more of the response. Called on the connection's event loop.
  var isActive: Bool { stream?.isOpen ?? channel.isActive }

  /// Whether the client reads. Called on the connection's event loop.
  var isWritable: Bool { stream?.isWritable ?? channel.isWritable }

  func onLoop(_ body: @escaping @Sendable () -> Void) {
    if channel.eventLoop.inEventLoop { body() } else { channel.eventLoop.execute(body) }
  }
}

extension HTTPResponseStatus {
  /// Whether a response with this status has a body (RFC 9112, 6.3).
  var hasBody: Bool { code >= 200 && code != 204 && code != 205 && code != 304 }

  /// Whether the code is a valid final status. Codes below 200 are informational; codes above 599 are invalid (RFC 9110, 15).
  var isFinal: Bool { (200...599).contains(code) }

  fileprivate var asFinal: Self { isFinal ? self : .internalServerError }
}
