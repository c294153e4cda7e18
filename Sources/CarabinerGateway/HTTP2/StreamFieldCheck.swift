internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Resets streams with malformed fields that the library accepts (RFC 9113, 8.1.1), and keeps an ``OpaqueText`` out of its tables.
final class StreamFieldCheck: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let bytes: FieldBytes
  private var hasHead = false
  private var isMalformed = false

  init(_ bytes: FieldBytes) { self.bytes = bytes }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .headers(var frame) = unwrapOutboundIn(data), frame.headers.contains(where: { OpaqueText.isMarked($0.value) })
    else {
      return context.write(data, promise: promise)
    }
    var headers = HPACKHeaders()
    for (name, value, indexing) in frame.headers {
      headers.add(name: name, value: value, indexing: OpaqueText.isMarked(value) ? .nonIndexable : indexing)
    }
    frame.headers = headers
    bytes.expectOpaqueText()
    context.write(wrapOutboundOut(.headers(frame)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isMalformed else { return }
    guard case .headers(var frame) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isHead = !hasHead
    hasHead = true
    guard !frame.headers.contains(where: { Self.hasOuterSpace($0.value) }), !isHead || Self.settleHost(of: &frame.headers) else {
      isMalformed = true
      context.writeAndFlush(wrapOutboundOut(.rstStream(.protocolError)), promise: nil)
      return context.close(promise: nil)
    }
    context.fireChannelRead(wrapInboundOut(.headers(frame)))
  }

  /// Whether a value begins or ends with a space or tab (RFC 9113, 8.2.1).
  private static func hasOuterSpace(_ value: String) -> Bool {
    guard let first = value.utf8.first, let last = value.utf8.last else { return false }
    return first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09
  }

  /// Checks that exactly one host is given, as `:authority` or as Host. If both are present, they must be equal (RFC 9113,
  /// 8.3.1).
  private static func settleHost(of headers: inout HPACKHeaders) -> Bool {
    let authorities = headers[":authority"]
    let hosts = headers["host"]
    guard let name = authorities.first ?? hosts.first, authorities.count < 2, hosts.count < 2, Authority.isValid(name) else {
      return false
    }
    if let host = hosts.first, host.lowercased() != name.lowercased() { return false }
    guard authorities.isEmpty else { return true }
    // The codec requires `:authority`.
    var complete: HPACKHeaders = [":authority": name]
    complete.add(contentsOf: headers)
    headers = complete
    return true
  }
}
