internal import NIOCore

/// Counts the frames of an HTTP/2 client that need no answer: WINDOW_UPDATE, GOAWAY, and those of unknown types (RFC 9113, 10.5).
///
/// A response needs WINDOW_UPDATE frames, so each frame that the server sends allows some more. The library limits the frames of other
/// types.
struct FrameBudget {
  /// The number of such frames that each sent frame allows.
  static let framesPerSentFrame = 10

  /// The layout of a frame header (RFC 9113, 4.1).
  private enum Head {
    static let size = 9
    static let lengthSize = 3
  }

  private enum Kind {
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
    static let alternativeService: UInt8 = 10
    static let origin: UInt8 = 12
  }

  /// The number of bytes of the connection preface (RFC 9113, 3.4).
  static let prefaceBytes = 24

  /// The number of such frames that the client may still send.
  private(set) var left: Int
  /// The number of bytes of the preface or of a payload that have not arrived.
  private var toSkip = Self.prefaceBytes
  /// The number of bytes of the current head that have arrived.
  private var headBytes = 0
  private var length = 0
  private var kind: UInt8 = 0

  /// - Parameter maximum: The number of frames that are allowed before a frame is sent.
  init(maximum: Int) { left = maximum }

  mutating func sent() { left &+= Self.framesPerSentFrame }

  /// Reads bytes of the client.
  ///
  /// - Returns: Whether the frames are within the budget.
  mutating func received(_ bytes: Span<UInt8>) -> Bool {
    var position = 0
    while position < bytes.count {
      guard toSkip == 0 else {
        let step = min(toSkip, bytes.count - position)
        toSkip -= step
        position += step
        continue
      }
      // A head may be cut anywhere.
      switch headBytes {
      case 0..<Head.lengthSize: length = length << 8 | Int(bytes[position])
      case Head.lengthSize: kind = bytes[position]
      default: break
      }
      headBytes += 1
      position += 1
      if headBytes == Head.size { endHead() }
    }
    return left >= 0
  }

  private mutating func endHead() {
    switch kind {
    case ..<Kind.goAway, Kind.continuation, Kind.alternativeService, Kind.origin: break
    default: left -= 1
    }
    (toSkip, headBytes, length) = (length, 0, 0)
  }
}
