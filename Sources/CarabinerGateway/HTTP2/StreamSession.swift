internal import CNghttp2
internal import NIOCore

/// The session of nghttp2 of an HTTP/2 connection: bytes of the client in, bytes for the client out.
///
/// Only this type calls nghttp2. The session reports what it finds to the methods of ``HTTP2Connection`` for events, which record it. They
/// must not call nghttp2, other than to submit frames and to return windows.
@safe struct StreamSession: ~Copyable {
  /// The rate of nghttp2's own limit on resets, which must not be lower than ours.
  private static let unlimitedResets = UInt64.max

  /// Nil if the session was freed, or could not be made for lack of memory.
  private var handle: OpaquePointer?

  /// Creates the session, and its first SETTINGS frame.
  init(_ limits: GatewayLimits) {
    var option: OpaquePointer?
    guard unsafe nghttp2_option_new(&option) == 0, let option = unsafe option else { return }
    defer { unsafe nghttp2_option_del(option) }
    unsafe nghttp2_option_set_no_auto_window_update(option, 1)
    unsafe nghttp2_option_set_no_closed_streams(option, 1)
    unsafe CNghttp2_setMaximumContinuations(option, FrameBudget.maximumContinuations(limits))
    unsafe CNghttp2_setResetRate(option, Self.unlimitedResets, Self.unlimitedResets)
    var session: OpaquePointer?
    guard let callbacks = unsafe SessionCallbacks.table, unsafe nghttp2_session_server_new2(&session, callbacks, nil, option) == 0
    else { return }
    unsafe handle = session
    let settings = [
      nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.maximumStreams),
      nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, StreamHead.maximumReadBytes(limits)),
      // nghttp2 then keeps neither a tree of priorities nor streams that are closed.
      nghttp2_settings_entry(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ]
    _ = unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
  }

  deinit { unsafe nghttp2_session_del(handle) }

  /// Whether frames can be read and written.
  var isOpen: Bool { unsafe handle != nil }

  /// Sets the connection that gets the events. It must exist until the session is freed.
  func attach(_ connection: HTTP2Connection) {
    guard let handle = unsafe handle else { return }
    unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(connection).toOpaque())
  }

  /// Frees the session. It must not be called by the methods for events.
  mutating func free() {
    unsafe nghttp2_session_del(handle)
    unsafe handle = nil
  }

  // MARK: Bytes

  /// Reads bytes of the client.
  ///
  /// - Returns: False if the session cannot read further bytes. It can still write frames.
  func read(_ bytes: Span<UInt8>) -> Bool {
    guard let handle = unsafe handle else { return false }
    return unsafe bytes.withUnsafeBufferPointer { unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count) } >= 0
  }

  /// Moves frames into a buffer until it has a number of bytes, or no frame is left.
  ///
  /// - Parameters:
  ///   - maximum: The number of bytes. The last frame may exceed it.
  ///   - expected: The number of bytes that are likely, for the size of an empty buffer.
  /// - Returns: Whether frames may be left.
  func write(to buffer: inout ByteBuffer, maximum: Int, expected: Int) -> Bool {
    guard let handle = unsafe handle else { return false }
    while buffer.readableBytes < maximum {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(handle, &bytes)
      guard count > 0, let start = unsafe bytes else { return false }
      if buffer.readableBytes == 0 { buffer.reserveCapacity(max(count, expected)) }
      unsafe buffer.writeBytes(UnsafeRawBufferPointer(start: start, count: count))
    }
    return true
  }

  // MARK: Streams

  /// The stream of a number; nil if it is not open.
  func stream(_ id: Int32) -> HTTP2Stream? {
    guard let handle = unsafe handle, let stream = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return nil }
    return unsafe Unmanaged<HTTP2Stream>.fromOpaque(stream).takeUnretainedValue()
  }

  /// Finds a stream by its number from now on. It must exist until the session reports its end or is freed.
  func add(_ stream: HTTP2Stream) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_session_set_stream_user_data(handle, stream.id, Unmanaged.passUnretained(stream).toOpaque())
  }

  /// Resets a stream.
  func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  /// Continues a response after ``HTTP2Stream/fill(_:)`` had no bytes.
  func resume(_ stream: Int32) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_session_resume_data(handle, stream)
  }

  // MARK: Windows

  /// Returns the window of the connection for data that was received.
  func consume(_ bytes: Int) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_session_consume_connection(handle, bytes)
  }

  /// Whether the client may send nothing more on a stream until its window is returned.
  func isWindowFull(of stream: Int32) -> Bool {
    guard let handle = unsafe handle else { return true }
    return unsafe nghttp2_session_get_stream_effective_recv_data_length(handle, stream)
      >= nghttp2_session_get_stream_effective_local_window_size(handle, stream)
  }

  /// Returns the window of a stream for data that was taken.
  func consume(_ bytes: Int, of stream: Int32) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_session_consume_stream(handle, stream, bytes)
  }

  // MARK: The connection

  /// Sends a ping.
  func ping(_ data: StaticString) {
    guard let handle = unsafe handle else { return }
    precondition(data.utf8CodeUnitCount == 8, "the data of a ping has eight bytes")
    _ = unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), data.utf8Start)
  }

  /// Asks the client not to open further streams. Those that it has opened meanwhile are served.
  func announceShutdown() {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_submit_shutdown_notice(handle)
  }

  /// Sends the last stream that is served.
  func goAway() {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_submit_goaway(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(handle),
      HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  /// Ends the session with a GOAWAY frame, unless nghttp2 has ended it already. It must not read after that.
  func terminate(_ code: HTTP2ErrorCode) {
    guard let handle = unsafe handle else { return }
    _ = unsafe nghttp2_session_terminate_session(handle, code.rawValue)
  }

  // MARK: Responses

  /// Begins a response.
  ///
  /// - Parameter hasBody: Whether the stream has a body, which ``HTTP2Stream/fill(_:)`` returns.
  /// - Returns: False if a field is not valid, or the stream does not exist.
  func respond(_ head: ReplyHead, on stream: HTTP2Stream, hasBody: Bool) -> Bool {
    guard let handle = unsafe handle else { return false }
    return unsafe ReplyBlock.withFields(of: head) { fields, count in
      guard hasBody else { return unsafe nghttp2_submit_response(handle, stream.id, fields, count, nil) == 0 }
      var body = unsafe nghttp2_data_provider()
      unsafe body.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
      unsafe body.read_callback = SessionCallbacks.readBody
      return unsafe nghttp2_submit_response(handle, stream.id, fields, count, &body) == 0
    }
  }

  /// Sends an informational response, which the final one follows.
  func inform(_ head: ReplyHead, on stream: Int32) -> Bool {
    guard let handle = unsafe handle else { return false }
    return unsafe ReplyBlock.withFields(of: head) { fields, count in
      unsafe nghttp2_submit_headers(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, fields, count, nil) == 0
    }
  }
}

extension nghttp2_settings_entry {
  fileprivate init(_ setting: nghttp2_settings_id, _ value: Int) {
    self.init(settings_id: Int32(setting.rawValue), value: UInt32(clamping: value))
  }
}
