/// The last streams that a client has opened, to recognize frames that come after the end of a stream.
///
/// nghttp2 forgets a stream that both sides have closed, and ignores frames for it. They are connection errors, unless the server has reset
/// the stream before the client ended it: then the frames may have been on their way (RFC 9113, 5.1).
struct EndedStreams {
  /// The number of streams that are remembered.
  static let maximum = 256
  /// The bit of a number that says that the client has ended the stream. Numbers of streams do not have it.
  private static let endMark: UInt32 = 1 << 31

  private var streams: [UInt32] = []
  /// The index of the oldest stream, if all places are in use.
  private var oldest = 0
  /// The highest stream that was opened.
  private(set) var highest: UInt32 = 0

  /// Notes that the client opens a stream, which is higher than all others.
  mutating func opened(_ stream: UInt32) {
    highest = stream
    guard streams.count == Self.maximum else { return streams.append(stream) }
    streams[oldest] = stream
    oldest = oldest + 1 == Self.maximum ? 0 : oldest + 1
  }

  /// Notes that a stream is closed, and that the client has ended or reset it.
  mutating func endedByClient(_ stream: UInt32) {
    if let index = index(of: stream) { streams[index] |= Self.endMark }
  }

  /// The error of a frame with a head or data for a stream that is not open; nil if the frame is ignored.
  func error(of head: FrameHead) -> HTTP2ErrorCode? {
    guard head.stream <= highest else { return nil }
    if let index = index(of: head.stream) { return streams[index] & Self.endMark != 0 ? .streamClosed : nil }
    // A client that opens a stream closes all lower ones that it has left out (RFC 9113, 5.1.1).
    return head.kind == FrameHead.Kind.headers ? .protocolError : nil
  }

  /// The index of a stream. The search begins with the newest one.
  private func index(of stream: UInt32) -> Int? {
    for distance in 1..<(streams.count + 1) {
      let index = oldest >= distance ? oldest - distance : oldest + streams.count - distance
      if streams[index] & ~Self.endMark == stream { return index }
    }
    return nil
  }
}
