internal import NIOCore
internal import NIOHTTP2

/// Ends a stream as HTTP/2 has it where the handlers above close a connection.
///
/// The library resets a stream that is closed while its request still comes, with the code of one that was given up, and a client may
/// then throw away an answer that it already has. Behind a whole answer the code is that nothing went wrong (RFC 9113, 8.1): the client
/// stops sending, and keeps the answer.
final class StreamEnding: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private var hasAnswered = false

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .data(let data): hasAnswered = hasAnswered || data.endStream
    case .headers(let headers): hasAnswered = hasAnswered || headers.endStream
    default: break
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard hasAnswered else { return context.close(mode: mode, promise: promise) }
    // The last frame of the answer has said that no more is sent.
    guard mode != .output else {
      promise?.succeed()
      return
    }
    context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
    context.close(mode: mode, promise: promise)
  }
}
