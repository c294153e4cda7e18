/// Counts the frames of an HTTP/2 client that need no answer: WINDOW_UPDATE, GOAWAY, and those of unknown types (RFC 9113, 10.5).
///
/// A response needs WINDOW_UPDATE frames, so each frame that the server sends allows some more. The library limits the frames of other
/// types.
struct FrameBudget {
  /// The number of such frames that each sent frame allows.
  static let framesPerSentFrame = 10

  /// The number of such frames that the client may still send.
  private(set) var left: Int

  /// - Parameter maximum: The number of frames that are allowed before a frame is sent.
  init(maximum: Int) { left = maximum }

  mutating func sent() { left &+= Self.framesPerSentFrame }

  mutating func received(_ head: FrameHead) {
    switch head.kind {
    case ..<FrameHead.Kind.goAway, FrameHead.Kind.continuation, FrameHead.Kind.alternativeService, FrameHead.Kind.origin: break
    default: left -= 1
    }
  }
}
