internal import NIOCore

/// Counts the frames of an HTTP/2 client of which a flood would cost the gateway more than the client (RFC 9113, 10.5).
///
/// It sees the heads of all frames. Versions of nghttp2 differ in the floods that they end, and drop some frames without a callback.
struct FrameBudget {
  /// The number of idle frames that each sent frame allows. A response needs WINDOW_UPDATE frames.
  static let framesPerSentFrame = 10
  /// The maximum number of PING, SETTINGS and PRIORITY frames within ``GatewayLimits/resetWindow``.
  static let maximumControls = 200
  /// The maximum number of CONTINUATION frames of a head, unless a larger head needs more. It is the default of nghttp2.
  static let usualContinuations = 8
  /// A DATA frame with padding up to this payload may have no data (RFC 9113, 6.1).
  private static let paddingBytes = 256

  /// The number of frames within a time.
  private struct Window {
    private var end = NIODeadline.uptimeNanoseconds(0)
    private var count = 0

    /// Counts a frame. Returns false if there are too many.
    mutating func add(at now: NIODeadline, maximum: Int) -> Bool {
      if now >= end { (end, count) = (now + GatewayLimits.resetWindow, 0) }
      count += 1
      return count <= maximum
    }
  }

  private let maximumResets: Int
  private let maximumContinuations: Int
  /// The number of idle frames that the client may still send.
  private var idleLeft: Int
  private var controls = Window()
  private var resets = Window()
  /// The number of CONTINUATION frames of the current head.
  private var continuations = 0
  /// Whether the client has sent too many frames of a kind.
  private(set) var isExceeded = false

  init(_ limits: GatewayLimits) {
    idleLeft = limits.maximumIdleFrames
    maximumResets = limits.maximumResets
    maximumContinuations = Self.maximumContinuations(limits)
  }

  /// The number of CONTINUATION frames that a head may have. Clients fill a frame before they begin the next one.
  static func maximumContinuations(_ limits: GatewayLimits) -> Int {
    let needed = StreamHead.maximumReadBytes(limits) / FrameHead.maximumPayload
    return needed > usualContinuations ? needed + usualContinuations : usualContinuations
  }

  /// Counts a frame that is sent to the client.
  mutating func sent() { idleLeft &+= Self.framesPerSentFrame }

  /// Counts a stream that the server resets because of what its client sent.
  mutating func reset(at now: NIODeadline) { count(resets.add(at: now, maximum: maximumResets)) }

  /// Counts a frame of the client.
  mutating func received(_ head: FrameHead, at now: @autoclosure () -> NIODeadline) {
    switch head.kind {
    case FrameHead.Kind.data:
      guard !head.endsStream else { break }
      if head.length == 0 || head.flags & FrameHead.Flag.isPadded != 0 && head.length <= Self.paddingBytes { countIdle() }
    case FrameHead.Kind.headers: continuations = 0
    case FrameHead.Kind.pushPromise: break
    case FrameHead.Kind.reset: count(resets.add(at: now(), maximum: maximumResets))
    case FrameHead.Kind.priority, FrameHead.Kind.settings, FrameHead.Kind.ping:
      count(controls.add(at: now(), maximum: Self.maximumControls))
    case FrameHead.Kind.continuation:
      continuations += 1
      count(continuations <= maximumContinuations)
      if head.length == 0 { countIdle() }
    default: countIdle()
    }
  }

  private mutating func countIdle() {
    idleLeft -= 1
    count(idleLeft >= 0)
  }

  private mutating func count(_ isWithin: Bool) { if !isWithin { isExceeded = true } }
}
