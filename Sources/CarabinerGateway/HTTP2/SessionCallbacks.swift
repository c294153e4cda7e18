internal import CNghttp2

/// The functions that nghttp2 calls. Each finds the connection and calls one of its methods for events.
enum SessionCallbacks {
  /// The same functions for all sessions; nil for lack of memory.
  nonisolated(unsafe) static let table: OpaquePointer? = {
    var table: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&table) == 0, let table = unsafe table else { return nil }
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { _, frame, context in
      guard let frame = unsafe frame else { return 0 }
      let stream = unsafe frame.pointee.hd.stream_id
      unsafe SessionCallbacks.call(context) { $0.headBegins(on: stream) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(table) { _, _, name, nameCount, value, valueCount, _, context in
      let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
      let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
      let goesOn = unsafe SessionCallbacks.call(context) { unsafe $0.received(field: name.span, value.span) }
      return goesOn ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }
    // Without it, nghttp2 would leave out a malformed field and accept the request.
    unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(table) { _, _, _, _, _, _, _, _ in
      NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, stream, bytes, count, context in
      let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
      unsafe SessionCallbacks.call(context) { unsafe $0.received(data: bytes, on: stream) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, context in
      guard let head = unsafe frame?.pointee.hd else { return 0 }
      let isShutdownPing = unsafe head.type == FrameHead.Kind.ping && frame?.pointee.ping.isShutdown == true
      unsafe SessionCallbacks.call(context) { $0.received(FrameHead(head), isShutdownPing: isShutdownPing) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_frame_send_callback(table) { _, frame, context in
      guard let frame = unsafe frame else { return 0 }
      let head = unsafe frame.pointee.hd
      let code: UInt32 =
        switch head.type {
        case FrameHead.Kind.reset: unsafe frame.pointee.rst_stream.error_code
        case FrameHead.Kind.goAway: unsafe frame.pointee.goaway.error_code
        default: 0
        }
      let isNotice = unsafe head.type == FrameHead.Kind.goAway && frame.pointee.goaway.last_stream_id == Int32.max
      unsafe SessionCallbacks.call(context) { $0.sent(FrameHead(head), code, isNotice: isNotice) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, stream, _, context in
      unsafe SessionCallbacks.call(context) { $0.closed(stream) }
      return 0
    }
    return unsafe table
  }()

  /// Reads the body of a response.
  static let readBody: nghttp2_data_source_read_callback = { _, _, target, count, flags, source, _ in
    guard let pointer = unsafe source?.pointee.ptr, let flags = unsafe flags else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let target = unsafe UnsafeMutableRawBufferPointer(start: target, count: count)
    switch unsafe Unmanaged<HTTP2Stream>.fromOpaque(pointer)._withUnsafeGuaranteedRef({ unsafe $0.fill(target) }) {
    case .bytes(let count): return count
    case .last(let count):
      unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      return count
    case .none: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .failed: return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
  }

  private static func call<Result>(_ context: UnsafeMutableRawPointer?, _ body: (HTTP2Connection) -> Result) -> Result {
    guard let context = unsafe context else { preconditionFailure("the session has no connection") }
    return unsafe Unmanaged<HTTP2Connection>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
  }
}

extension FrameHead {
  fileprivate init(_ head: nghttp2_frame_hd) {
    self.init(length: head.length, kind: head.type, flags: head.flags, stream: UInt32(bitPattern: head.stream_id))
  }
}

extension nghttp2_ping {
  /// Whether the client has answered the ping of a shutdown.
  fileprivate var isShutdown: Bool {
    unsafe hd.flags & FrameHead.Flag.acknowledges != 0 && opaque_data.0 == HTTP2Connection.shutdownPing.utf8Start.pointee
  }
}
