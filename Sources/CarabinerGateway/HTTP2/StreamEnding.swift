internal import NIOCore
internal import NIOHTTP2

/// Ends a stream as HTTP/2 requires when a handler closes its channel, as it would close a connection.
///
/// If a stream is closed while its request is still arriving, the library resets it with CANCEL, and a client may then discard a
/// response that it already has. After a complete response this handler resets the stream with NO_ERROR (RFC 9113, 8.1): the
/// client stops sending, and keeps the response.
final class StreamEnding: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private var hasAnswered = false

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard unwrapOutboundIn(data).endsStream else { return context.write(data, promise: promise) }
    // The flag must be set before the promise of a handler that closes after the write is fulfilled.
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { self.hasAnswered = true }
    written.futureResult.cascade(to: promise)
    context.write(data, promise: written)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard hasAnswered else { return context.close(mode: mode, promise: promise) }
    // The last frame of the response has closed the sending side.
    guard mode != .output else {
      promise?.succeed()
      return
    }
    context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
    context.close(mode: mode, promise: promise)
  }
}

extension HTTP2Frame.FramePayload {
  fileprivate var endsStream: Bool {
    switch self {
    case .data(let data): data.endStream
    case .headers(let headers): headers.endStream
    default: false
    }
  }
}
