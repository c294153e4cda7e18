internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// Converts the parts of requests and responses between the codec of HTTP/2 and the handler of connections.
final class StreamParts: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = RequestPart
  typealias OutboundIn = ReplyPart
  typealias OutboundOut = HTTPServerResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part: RequestPart =
      switch unwrapInboundIn(data) {
      case .head(let head): .head(RequestHead(head))
      case .body(let bytes): .body(bytes)
      case .end: .end
      }
    context.fireChannelRead(wrapInboundOut(part))
  }

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
    var headers = fields.headers
    headers.remove(name: "Transfer-Encoding")
    headers.remove(name: "Content-Length")
    if case .length(let length) = framing { headers.add(name: "Content-Length", value: String(length)) }
    return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }
}
