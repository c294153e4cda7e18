internal import CarabinerHTTP1
internal import NIOCore

/// A stream of an HTTP/2 connection: one request and its response.
///
/// The connection owns it until nghttp2 has closed the stream.
final class HTTP2Stream: StreamOutlet, @unchecked Sendable {
  // Responses refer to it from other threads, but everything in it is used on the event loop of its connection only.

  enum State {
    /// The head is arriving.
    case head
    /// The body is arriving.
    case receiving(RequestHead)
    /// The body is arriving while the response is produced.
    case uploading(InboundUpload)
    /// The response is being produced.
    case answering(GatewayReply)
    /// The response is complete, but maybe not sent.
    case answered
    /// Nothing more is sent or received.
    case closed
  }

  struct Deadlines {
    /// The time by which more input must arrive.
    var receive: NIODeadline?
    /// The time by which the client must have read some of the unsent bytes.
    var send: NIODeadline?

    /// The first of the deadlines; nil if there is none.
    var first: NIODeadline? {
      guard let receive, let send else { return receive ?? send }
      return min(receive, send)
    }
  }

  let id: Int32
  /// The connection; nil if the stream is closed.
  @safe @exclusivity(unchecked) var connection: HTTP2Connection?
  /// The index in the streams of the connection.
  var place: Int

  // MARK: The request

  @safe @exclusivity(unchecked) var state = State.head
  @safe @exclusivity(unchecked) var head = StreamHead()
  /// Whether the whole head has arrived.
  var hasHead = false
  /// Whether the client has ended or reset the stream.
  var isEndedByClient = false
  /// Whether the connection has received something for the stream that is not passed on yet.
  var hasArrived = false
  /// The bytes of the body that are not passed on.
  @safe @exclusivity(unchecked) private(set) var body = ByteBuffer()
  /// The number of bytes whose window is not returned yet.
  var owed = 0
  @safe @exclusivity(unchecked) var deadlines = Deadlines()

  // MARK: The response

  @safe @exclusivity(unchecked) var output = StreamOutput()

  init(_ id: Int32, of connection: HTTP2Connection, place: Int) {
    self.id = id
    self.connection = connection
    self.place = place
  }

  var isOpen: Bool { if case .closed = state { false } else { true } }

  /// Whether the response was sent, and the client has time to end the request.
  var awaitsEnd: Bool { if case .answered = state { deadlines.receive != nil } else { false } }

  var isWritable: Bool { output.waiting == 0 && connection?.isWritable == true }

  /// Adds bytes of the body.
  func add(_ bytes: ByteBuffer) {
    owed += bytes.readableBytes
    if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
  }

  /// The bytes of the body that are not passed on. The stream has them no more.
  func takeBody() -> ByteBuffer {
    defer { body = ByteBuffer() }
    return body
  }

  /// Copies the bytes of the body, so that they do not keep all bytes of a read in memory until the rest arrives.
  func keepBody() {
    guard body.readableBytes > 0, body.storageCapacity > 2 * body.readableBytes else { return }
    body = ByteBuffer(bytes: body.readableBytesView)
  }

  var bodyBytes: Int { body.readableBytes }

  /// Lets the client send as many bytes as have arrived.
  func returnWindow() {
    guard owed > 0, let connection else { return }
    connection.session.consume(owed, of: id)
    connection.hasOutput()
    owed = 0
  }

  /// Lets the client send more of an upload, because the operation has read all of it that has arrived.
  func resumeReading() {
    guard case .uploading(let upload) = state, let connection else { return }
    returnWindow()
    connection.now = connection.loop.now
    if deadlines.receive != nil { connection.awaitBytes(of: upload, self) }
    connection.flush()
  }

  /// Leaves the connection, which has no such stream any more.
  func leave() {
    state = .closed
    connection = nil
  }

  /// Ends everything that the stream has begun, because its response cannot be sent any more.
  func settle() {
    guard isOpen else { return }
    switch state {
    case .answering(let reply): reply.cancel()
    case .uploading(let upload):
      upload.reply.cancel()
      upload.body.end(.failure(CancellationError()))
    case .head, .receiving, .answered, .closed: break
    }
    state = .closed
    body = ByteBuffer()
    deadlines = Deadlines()
    connection?.unsent.remove(output.waiting)
    output.fail(ChannelError.ioOnClosedChannel)
  }
}
