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
    guard unwrapOutboundIn(data).endsStream else { return context.write(data, promise: promise) }
    // A whole answer is one that has left, and that has to be known before whoever closes behind it hears so.
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { self.hasAnswered = true }
    written.futureResult.cascade(to: promise)
    context.write(data, promise: written)
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

extension HTTP2Frame.FramePayload {
  fileprivate var endsStream: Bool {
    switch self {
    case .data(let data): data.endStream
    case .headers(let headers): headers.endStream
    default: false
    }
  }
}
