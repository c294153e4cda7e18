/// Finds the heads of frames in the bytes of an HTTP/2 client, which may be cut anywhere.
struct FrameHeadReader {
  /// The number of bytes of the connection preface (RFC 9113, 3.4).
  static let prefaceBytes = 24

  /// The bytes of the preface or of a payload that have not come.
  private var toSkip = Self.prefaceBytes
  /// The number of bytes of the current head that have come.
  private var headBytes = 0
  private var head = FrameHead()

  /// Reads bytes of the client.
  ///
  /// - Parameter body: Called for each head that ends in these bytes.
  mutating func read(_ bytes: Span<UInt8>, _ body: (FrameHead) -> Void) {
    var position = 0
    while position < bytes.count {
      guard toSkip == 0 else {
        let step = min(toSkip, bytes.count - position)
        toSkip -= step
        position += step
        continue
      }
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
      body(head)
      (toSkip, headBytes, head) = (head.length, 0, FrameHead())
    }
  }
}
