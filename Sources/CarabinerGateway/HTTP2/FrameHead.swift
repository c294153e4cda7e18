/// The head of an HTTP/2 frame (RFC 9113, 4.1).
struct FrameHead {
  enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let pushPromise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
  }

  enum Flag {
    static let endsStream: UInt8 = 0x01
    /// Of PING and SETTINGS frames.
    static let acknowledges: UInt8 = 0x01
    static let endsHeaders: UInt8 = 0x04
    static let isPadded: UInt8 = 0x08
  }

  static let size = 9
  static let lengthSize = 3
  /// The maximum payload of a frame, unless the other side allows more (RFC 9113, 4.2).
  static let maximumPayload = 16 << 10

  /// The number of payload bytes.
  var length = 0
  var kind: UInt8 = 0
  var flags: UInt8 = 0
  var stream: UInt32 = 0

  var endsStream: Bool { flags & Flag.endsStream != 0 }
  /// Whether no CONTINUATION frame follows.
  var endsHeaders: Bool { flags & Flag.endsHeaders != 0 }
}
