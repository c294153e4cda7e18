internal import NIOCore
internal import NIOHTTP1

/// Converts the parts of responses for the codec of HTTP/2.
final class StreamReplyParts: ChannelOutboundHandler {
  typealias OutboundIn = ReplyPart
  typealias OutboundOut = HTTPServerResponsePart

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head): context.write(wrapOutboundOut(.head(head.forStream)), promise: promise)
    case .body(let bytes): context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    case .end: context.write(wrapOutboundOut(.end(nil)), promise: promise)
    case .whole(let head, let body):
      context.write(wrapOutboundOut(.head(head.forStream)), promise: nil)
      if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
      context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }
  }
}

extension ReplyHead {
  fileprivate var forStream: HTTPResponseHead {
    HTTPResponseHead(version: .http1_1, status: status, headers: fields.headers)
  }
}
