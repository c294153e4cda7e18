internal import NIOCore

/// Observes the frames of a connection: the library does not report which of its errors end it, does not limit all frames, and answers
/// frames after the end of a stream in another way than RFC 9113 asks for.
final class FrameOutlet: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// The places of error codes, from the start of the frame (RFC 9113, 6.4 and 6.8).
  private enum Place {
    static let resetCode = FrameHead.size
    /// It follows the last stream identifier.
    static let goAwayCode = FrameHead.size + 4
  }

  /// Error codes (RFC 9113, 7).
  private enum Code {
    static let protocolError: UInt32 = 1
    static let streamClosed: UInt32 = 5
  }

  /// The maximum number of bytes that are discarded before the connection is closed at once.
  private static let maximumIgnored = 64 << 10

  /// Whether a GOAWAY frame with an error code was sent.
  private(set) var hasSaidWhy = false
  /// The number of GOAWAY frames that were sent.
  private(set) var goAways = 0
  /// Called when the first GOAWAY frame is sent.
  var onGoAway: (() -> Void)?
  /// Called when the client sends too many frames that need no answer.
  var onFlood: (() -> Void)?
  private var heads = FrameHeadReader()
  private var budget: FrameBudget
  private var ended = EndedStreams()
  /// Whether input is discarded.
  var ignoresInput = false
  private var ignored = 0
  /// The number of payload bytes of the last frame that later writes still contain.
  private var payloadToCome = 0

  init(maximumIdleFrames: Int) { budget = FrameBudget(maximum: maximumIdleFrames) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if !ignoresInput {
      heads.read(bytes.readableBytesUInt8Span) { head in
        budget.received(head)
        ended.received(head)
      }
      guard budget.left < 0 else { return context.fireChannelRead(data) }
      onFlood?()
    }
    ignored += bytes.readableBytes
    if ignored > Self.maximumIgnored { context.close(promise: nil) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    switch outcome(of: bytes) {
    case .unchanged: context.write(data, promise: promise)
    case .streamClosed(let place):
      bytes.setInteger(Code.streamClosed, at: bytes.readerIndex + place)
      context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    case .dropped: promise?.succeed()
    }
  }

  /// The treatment of a written frame.
  private enum Outcome {
    case unchanged
    /// The error code at this place is STREAM_CLOSED instead.
    case streamClosed(Int)
    case dropped
  }

  private func outcome(of bytes: ByteBuffer) -> Outcome {
    guard payloadToCome == 0 else {
      payloadToCome = max(0, payloadToCome - bytes.readableBytes)
      return .unchanged
    }
    budget.sent()
    let start = bytes.readerIndex
    guard let high = bytes.getInteger(at: start, as: UInt16.self), let low = bytes.getInteger(at: start + 2, as: UInt8.self),
      let kind = bytes.getInteger(at: start + FrameHead.lengthSize, as: UInt8.self)
    else { return .unchanged }
    payloadToCome = max(0, (Int(high) << 8) + Int(low) + FrameHead.size - bytes.readableBytes)
    switch kind {
    case FrameHead.Kind.goAway: return goAway(bytes)
    case FrameHead.Kind.reset:
      guard payloadToCome == 0, let stream = bytes.getInteger(at: start + FrameHead.streamPlace, as: UInt32.self) else {
        return .unchanged
      }
      return switch ended.reset(stream) {
      case .sent: .unchanged
      case .sentAsStreamClosed: .streamClosed(Place.resetCode)
      case .dropped: .dropped
      }
    default: return .unchanged
    }
  }

  private func goAway(_ bytes: ByteBuffer) -> Outcome {
    guard let code = bytes.getInteger(at: bytes.readerIndex + Place.goAwayCode, as: UInt32.self) else { return .unchanged }
    goAways += 1
    if code != 0 { hasSaidWhy = true }
    if goAways == 1 { onGoAway?() }
    return code == Code.protocolError && ended.areContinued ? .streamClosed(Place.goAwayCode) : .unchanged
  }
}
