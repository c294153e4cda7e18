internal import NIOCore

/// Observes the frames of a connection: the library does not report which of its errors end it, and does not limit all frames.
final class FrameOutlet: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// The layout of a frame header (RFC 9113, 4.1).
  private enum Head {
    static let size = 9
    static let lengthSize = 3
    static let goAway: UInt8 = 7
    /// The offset of the error code, which follows the last stream identifier.
    static let errorCode = size + 4
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
  private var budget: FrameBudget
  /// Whether input is discarded.
  var ignoresInput = false
  private var ignored = 0
  /// The number of payload bytes of the last frame that later writes still contain.
  private var payloadToCome = 0

  init(maximumIdleFrames: Int) { budget = FrameBudget(maximum: maximumIdleFrames) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if !ignoresInput {
      guard !budget.received(bytes.readableBytesUInt8Span) else { return context.fireChannelRead(data) }
      onFlood?()
    }
    ignored += bytes.readableBytes
    if ignored > Self.maximumIgnored { context.close(promise: nil) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .byteBuffer(let bytes) = unwrapOutboundIn(data) { look(at: bytes) }
    context.write(data, promise: promise)
  }

  private func look(at bytes: ByteBuffer) {
    guard payloadToCome == 0 else {
      payloadToCome = max(0, payloadToCome - bytes.readableBytes)
      return
    }
    budget.sent()
    let start = bytes.readerIndex
    guard let high = bytes.getInteger(at: start, as: UInt16.self), let low = bytes.getInteger(at: start + 2, as: UInt8.self),
      let kind = bytes.getInteger(at: start + Head.lengthSize, as: UInt8.self)
    else { return }
    payloadToCome = max(0, (Int(high) << 8) + Int(low) + Head.size - bytes.readableBytes)
    guard kind == Head.goAway, let code = bytes.getInteger(at: start + Head.errorCode, as: UInt32.self) else { return }
    goAways += 1
    if code != 0 { hasSaidWhy = true }
    if goAways == 1 { onGoAway?() }
  }
}
