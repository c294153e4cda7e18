internal import CarabinerWire
internal import NIOCore

/// Preserves header values that are not UTF-8 on an HTTP/2 connection. The library would replace their bytes.
///
/// Values of requests become an ``OpaqueText``, and those of responses become bytes again. Heads of more than one frame are not changed.
final class FieldBytes: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// The maximum payload of a frame, unless the other side allows more (RFC 9113, 4.2).
  static let maximumPayload = 16 << 10
  /// The number of bytes of a priority in a HEADERS frame (RFC 9113, 6.2).
  private static let priorityBytes = 5

  /// The number of bytes of the preface (RFC 9113, 3.4) or of a frame that are passed on unread.
  private var passing = FrameHeadReader.prefaceBytes
  /// The beginning of a frame.
  private var held = ByteBuffer()
  /// The number of responses with an ``OpaqueText`` that are not written yet.
  private var expected = 0
  /// The number of payload bytes of the last frame that later writes still contain.
  private var payloadToCome = 0

  /// Announces a response with an ``OpaqueText``.
  func expectOpaqueText() { expected += 1 }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var input = unwrapInboundIn(data)
    if held.readableBytes > 0 {
      held.writeImmutableBuffer(input)
      (input, held) = (held, ByteBuffer())
    }
    var position = 0
    while true {
      let passed = min(passing, input.readableBytes - position)
      position += passed
      passing -= passed
      guard passing == 0, let length = input.frameLength(at: position) else { break }
      guard Self.isWholeHead(input, at: position), length <= Self.maximumPayload else {
        passing = FrameHead.size + length
        continue
      }
      guard input.readableBytes - position >= FrameHead.size + length else { break }
      let end = position + FrameHead.size + length
      if let changed = Self.replacingValues(in: input, position..<end, { $0.hasOuterSpace ? nil : OpaqueText.utf8(of: $0) }) {
        if position > 0, let unchanged = input.readSlice(length: position) { context.fireChannelRead(wrapInboundOut(unchanged)) }
        input.moveReaderIndex(forwardBy: FrameHead.size + length)
        position = 0
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: changed)))
      } else {
        position = end
      }
    }
    // Before the rest is passed on, because a flush that fails makes the channel read again.
    let rest = input.readSlice(length: position)
    if input.readableBytes > 0 { held = input }
    input = ByteBuffer()
    if let rest, rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
  }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(let bytes) = unwrapOutboundIn(data), let changed = changed(bytes) else {
      return context.write(data, promise: promise)
    }
    context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(bytes: changed))), promise: promise)
  }

  private func changed(_ bytes: ByteBuffer) -> [UInt8]? {
    guard payloadToCome == 0, let length = bytes.frameLength(at: 0) else {
      payloadToCome = max(0, payloadToCome - bytes.readableBytes)
      return nil
    }
    payloadToCome = max(0, length + FrameHead.size - bytes.readableBytes)
    guard expected > 0, payloadToCome == 0, Self.isWholeHead(bytes, at: 0),
      let changed = Self.replacingValues(in: bytes, 0..<bytes.readableBytes, { OpaqueText.bytes(of: Array($0)) })
    else { return nil }
    expected -= 1
    return changed
  }

  // MARK: Frames

  private static func isWholeHead(_ bytes: ByteBuffer, at position: Int) -> Bool {
    let start = bytes.readerIndex + position
    return bytes.getInteger(at: start + 3, as: UInt8.self) == FrameHead.Kind.headers
      && (bytes.getInteger(at: start + 4, as: UInt8.self) ?? 0) & FrameHead.Flag.endsHeaders != 0
  }

  /// The frame with other values; nil if nothing is changed, or the frame would be too long.
  private static func replacingValues(
    in bytes: ByteBuffer, _ place: Range<Int>, _ change: (Span<UInt8>) -> [UInt8]?
  ) -> [UInt8]? {
    let frame = bytes.readableBytesUInt8Span.extracting(place)
    let flags = frame[4]
    let isPadded = flags & FrameHead.Flag.isPadded != 0 && frame.count > FrameHead.size
    let padding = isPadded ? Int(frame[FrameHead.size]) : 0
    let start = FrameHead.size + (isPadded ? 1 : 0) + (flags & FrameHead.Flag.hasPriority != 0 ? Self.priorityBytes : 0)
    let end = frame.count - padding
    guard start <= end, let block = FieldBlock.replacingValues(in: frame.extracting(start..<end), change) else { return nil }
    var changed = Array(frame.extracting(0..<start)) + block + Array(frame.extracting(end..<frame.count))
    let length = changed.count - FrameHead.size
    guard length <= Self.maximumPayload else { return nil }
    for (index, shift) in [16, 8, 0].enumerated() { changed[index] = UInt8(length >> shift & 0xFF) }
    return changed
  }
}

extension ByteBuffer {
  /// The length in the head of a frame; nil if the head is not complete.
  fileprivate func frameLength(at position: Int) -> Int? {
    guard readableBytes - position >= FrameHead.size, let high = getInteger(at: readerIndex + position, as: UInt16.self),
      let low = getInteger(at: readerIndex + position + 2, as: UInt8.self)
    else { return nil }
    return Int(high) << 8 | Int(low)
  }
}

extension Span<UInt8> {
  /// Whether the first or the last byte is a space or a tabulator.
  fileprivate var hasOuterSpace: Bool {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    return !isEmpty && (isSpace(self[0]) || isSpace(self[count - 1]))
  }
}
