internal import NIOCore

/// Sees the frames of a connection leave, because the library does not say which of its errors end the connection.
final class FrameOutlet: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// The parts of a frame's head (RFC 9113, 4.1).
  private enum Head {
    static let size = 9
    static let lengthSize = 3
    static let goAway: UInt8 = 7
    /// The error code behind the number of the last stream.
    static let errorCode = size + 4
  }

  /// How much of what a client sends is thrown away before its connection is closed at once.
  private static let maximumIgnored = 64 << 10

  /// Whether the client was told of an error that ends the connection.
  private(set) var hasSaidWhy = false
  /// How often the client was told that the connection ends.
  private(set) var goAways = 0
  /// Is called when the client is told so for the first time.
  var onGoAway: (() -> Void)?
  /// Whether what the client sends is thrown away.
  var ignoresInput = false
  private var ignored = 0
  /// How much of the payload of the last frame is still to come in writes of its own.
  private var payloadToCome = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard ignoresInput else { return context.fireChannelRead(data) }
    ignored += unwrapInboundIn(data).readableBytes
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
