/// The last streams of an HTTP/2 connection whose request has ended or that were reset, to recognize frames that come after that.
///
/// The library refuses HEADERS after the end of a request with PROTOCOL_ERROR, and cancels the response beside. The right answer is
/// STREAM_CLOSED, and nothing else on the stream after it (RFC 9113, 5.1).
struct EndedStreams {
  /// The number of streams that are remembered. The frames of the library for older ones are not changed.
  static let maximum = 256

  /// The treatment of a RST_STREAM frame that the server sends.
  enum Reset {
    case sent
    /// Its code is STREAM_CLOSED instead.
    case sentAsStreamClosed
    /// The stream was reset before.
    case dropped
  }

  private struct Stream {
    let id: UInt32
    /// Whether frames came after the end of the request, which the library has not refused yet.
    var isContinued = false
    /// Whether the server has reset it.
    var isReset = false
  }

  private var streams: [Stream] = []
  /// The index of the oldest stream, if all places are in use.
  private var oldest = 0
  /// The highest stream that was opened.
  private var highest: UInt32 = 0
  /// Whether a head is not complete. Only CONTINUATION frames may follow then, and the library ends the connection after another one.
  private var isInHead = false

  /// Notes a frame of the client.
  mutating func received(_ head: FrameHead) {
    if isInHead {
      if head.kind == FrameHead.Kind.continuation, head.endsHeaders { isInHead = false }
      return
    }
    isInHead = head.kind == FrameHead.Kind.headers && !head.endsHeaders
    switch head.kind {
    case FrameHead.Kind.headers where head.stream > highest:
      highest = head.stream
      if head.endsStream { add(Stream(id: head.stream)) }
    case FrameHead.Kind.headers, FrameHead.Kind.data:
      if let index = index(of: head.stream) {
        // The library ignores data of a stream that the server has reset.
        if head.kind == FrameHead.Kind.headers || !streams[index].isReset { streams[index].isContinued = true }
      } else if head.endsStream, head.stream <= highest {
        add(Stream(id: head.stream))
      }
    case FrameHead.Kind.reset:
      if head.stream <= highest, index(of: head.stream) == nil { add(Stream(id: head.stream)) }
    default: break
    }
  }

  /// Notes that the server resets a stream.
  mutating func reset(_ stream: UInt32) -> Reset {
    guard let index = index(of: stream) else {
      add(Stream(id: stream, isReset: true))
      return .sent
    }
    if streams[index].isReset { return .dropped }
    defer { (streams[index].isReset, streams[index].isContinued) = (true, false) }
    return streams[index].isContinued ? .sentAsStreamClosed : .sent
  }

  /// Whether frames came after the end of a stream, and the library has not refused them.
  var areContinued: Bool { streams.contains(where: \.isContinued) }

  private func index(of stream: UInt32) -> Int? { streams.lastIndex { $0.id == stream } }

  private mutating func add(_ stream: Stream) {
    guard streams.count == Self.maximum else { return streams.append(stream) }
    streams[oldest] = stream
    oldest = (oldest + 1) % Self.maximum
  }
}
