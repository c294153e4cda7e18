/// Finds the heads of frames in the bytes of an HTTP/2 client, which may be cut anywhere.
struct FrameHeadReader {
  /// The number of bytes of the connection preface (RFC 9113, 3.4).
  static let prefaceBytes = 24

  /// The bytes of the preface or of a payload that have not come.
  private var toSkip = Self.prefaceBytes
  /// The number of bytes of the current head that have come.
  private var headBytes = 0
  private var head = FrameHead()

  /// Reads the bytes of the client from `position` to the end of the next head.
  ///
  /// - Returns: The head; nil if it does not end in these bytes.
  mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) -> FrameHead? {
    let step = min(toSkip, bytes.count - position)
    toSkip -= step
    position += step
    while position < bytes.count {
      let byte = bytes[position]
      switch headBytes {
      case 0..<FrameHead.lengthSize: head.length = head.length << 8 | Int(byte)
      case FrameHead.lengthSize: head.kind = byte
      case FrameHead.lengthSize + 1: head.flags = byte
      default: head.stream = head.stream << 8 | UInt32(byte)
      }
      headBytes += 1
      position += 1
      guard headBytes == FrameHead.size else { continue }
      // The first bit is reserved.
      head.stream &= UInt32(Int32.max)
      defer { (toSkip, headBytes, head) = (head.length, 0, FrameHead()) }
      return head
    }
    return nil
  }
}
