internal import Carabiner
internal import CarabinerWire
internal import Foundation
internal import NIOCore
internal import NIOWebSocket

/// Assembles messages from frames, answers pings, and enforces the rules of RFC 6455.
final class FrameHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private struct Fragments {
    let opcode: WebSocketOpcode
    var bytes: ByteBuffer
  }

  private let connection: SocketConnection
  private let maximumMessageBytes: Int
  private var fragments: Fragments?

  init(_ connection: SocketConnection, maximumMessageBytes: Int) {
    self.connection = connection
    self.maximumMessageBytes = maximumMessageBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if connection.isClosing {
      // The server's answer to the close frame, or its own close frame sent at the same time.
      if frame.opcode == .connectionClose { context.close(promise: nil) }
      return
    }
    guard frame.maskKey == nil, frame.reservedBits.isEmpty else {
      return violated("the server sent a frame that is masked, or has reserved bits set")
    }
    switch frame.opcode {
    case .text, .binary: begin(frame)
    case .continuation: goOn(frame)
    case .ping: answer(frame)
    case .pong: connection.report(.signOfLife)
    case .connectionClose: closed(frame.data, context)
    default: violated("the server sent a frame of an unknown kind")
    }
  }

  // MARK: Messages

  private func begin(_ frame: WebSocketFrame) {
    guard fragments == nil else { return violated("the server began a message inside of another") }
    guard !frame.fin else { return deliver(frame.opcode, frame.data) }
    fragments = Fragments(opcode: frame.opcode, bytes: frame.data)
  }

  private func goOn(_ frame: WebSocketFrame) {
    guard var message = fragments else { return violated("the server continued a message that was not begun") }
    // Set again after the change: a second reference would make each append copy the buffer.
    fragments = nil
    guard message.bytes.readableBytes + frame.data.readableBytes <= maximumMessageBytes else { return tooLarge() }
    message.bytes.writeImmutableBuffer(frame.data)
    if frame.fin { deliver(message.opcode, message.bytes) } else { fragments = message }
  }

  private func deliver(_ opcode: WebSocketOpcode, _ bytes: ByteBuffer) {
    guard opcode == .text else { return connection.report(.binary) }
    guard bytes.isUTF8 else { return notUTF8("a text message of the server") }
    connection.report(.text(Data(bytes.readableBytesView)))
  }

  // MARK: Control frames

  private func answer(_ frame: WebSocketFrame) {
    connection.answer(.frame(frame.data))
    connection.report(.signOfLife)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { connection.becameWritable() }
    context.fireChannelWritabilityChanged()
  }

  private func closed(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
    var data = data
    guard data.readableBytes != 1 else { return violated("the server sent a close frame with half a code") }
    let code = data.readInteger(as: UInt16.self).map(WebSocketCloseCode.init(rawValue:))
    if let code, !code.isSendable {
      return violated("the server sent a close frame with the code \(code.rawValue), which is reserved")
    }
    guard data.isUTF8 else { return notUTF8("the reason in the server's close frame") }
    let answer = WebSocketFrame.closing(code ?? .normal, reason: "")
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    connection.report(.closed(code ?? .none, reason: String(decoding: data.readableBytesView, as: UTF8.self)))
  }

  // MARK: Faults

  private func violated(_ what: String) {
    connection.report(
      .violation(
        .protocolViolation, "\(what), which violates RFC 6455; check the server and the proxies before it",
        closingWith: .protocolError))
  }

  private func notUTF8(_ what: String) {
    connection.report(
      .violation(
        .invalidMessage, "\(what) is not UTF-8; check the server and the proxies before it", closingWith: .invalidData))
  }

  private func tooLarge() {
    connection.report(
      .violation(
        .messageTooLarge,
        "a message of the server is longer than \(maximumMessageBytes) bytes; select fewer fields, or raise the maximum message size",
        closingWith: .messageTooLarge))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength: tooLarge()
    case is NIOWebSocketError: violated("the server sent a control frame that is too long or comes in pieces")
    default: connection.report(.closed(.abnormal, reason: ""))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.report(.closed(.abnormal, reason: ""))
    context.fireChannelInactive()
  }
}

extension ByteBuffer {
  /// Whether the readable bytes are UTF-8.
  fileprivate var isUTF8: Bool {
    do {
      _ = try UTF8Span(validating: readableBytesUInt8Span)
      return true
    } catch {
      return false
    }
  }
}
