internal import CarabinerWire
internal import NIOCore
internal import NIOWebSocket

/// Assembles a client's messages from frames, and enforces the rules of RFC 6455.
struct FrameAssembly {
  /// The result of a frame.
  enum Event {
    /// A fragment of a message, or a pong.
    case nothing
    case text(ByteBuffer)
    case ping(ByteBuffer)
    /// The client closes the connection, or confirms the server's close frame.
    case close(WebSocketCloseCode)
    case violation(WebSocketCloseCode, reason: String)
  }

  private let maximumMessageBytes: Int
  private let maximumFragments: Int
  /// The fragments of the current message. It is changed in place: with a second reference, each fragment would copy the message.
  private(set) var message: ByteBuffer?
  private var fragmentCount = 0

  init(maximumMessageBytes: Int, maximumFragments: Int = GatewayLimits.defaultMaximumFragments) {
    self.maximumMessageBytes = maximumMessageBytes
    self.maximumFragments = maximumFragments
  }

  mutating func take(_ frame: WebSocketFrame) -> Event {
    // Unmasked frames must be rejected: they would let a page send chosen bytes through a proxy.
    guard frame.maskKey != nil else { return .violation(.protocolError, reason: "the frame is not masked") }
    guard frame.reservedBits.isEmpty else { return .violation(.protocolError, reason: "no extension was negotiated") }
    switch frame.opcode {
    case .text:
      guard message == nil else { return .violation(.protocolError, reason: "a message began before the last one ended") }
      fragmentCount = 0
      return add(frame)
    case .continuation:
      guard message != nil else { return .violation(.protocolError, reason: "a continuation frame without a message") }
      return add(frame)
    case .binary: return .violation(.unacceptableData, reason: "only text messages are supported")
    case .ping: return .ping(frame.unmaskedData)
    case .pong: return .nothing
    case .connectionClose: return closing(frame.unmaskedData)
    default: return .violation(.protocolError, reason: "the opcode is unknown")
    }
  }

  private mutating func add(_ frame: WebSocketFrame) -> Event {
    let size = message?.readableBytes ?? 0
    guard size + frame.length <= maximumMessageBytes else {
      return .violation(.messageTooLarge, reason: "a message has at most \(maximumMessageBytes) bytes")
    }
    fragmentCount += 1
    guard fragmentCount <= maximumFragments else {
      return .violation(.messageTooLarge, reason: "a message has at most \(maximumFragments) fragments")
    }
    if size == 0 { message = frame.unmaskedData } else { message?.writeImmutableBuffer(frame.unmaskedData) }
    guard frame.fin, let whole = message else { return .nothing }
    message = nil
    return whole.isUTF8 ? .text(whole) : .violation(.invalidData, reason: "a message is not UTF-8")
  }

  private func closing(_ data: ByteBuffer) -> Event {
    var data = data
    guard data.readableBytes != 1 else { return .violation(.protocolError, reason: "half a close code") }
    let code = data.readInteger(as: UInt16.self).map { WebSocketCloseCode(rawValue: $0) } ?? .normal
    guard code.isSendable else { return .violation(.protocolError, reason: "the close code is reserved") }
    return data.isUTF8 ? .close(code) : .violation(.invalidData, reason: "the reason is not UTF-8")
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

extension WebSocketFrame {
  /// A close frame of the server. A reason that is too long is truncated.
  static func closing(_ code: WebSocketCloseCode, reason: String) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer(bytes: code.payload(reason: reason)))
  }
}
