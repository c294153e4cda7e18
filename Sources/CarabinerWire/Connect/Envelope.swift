/// A message of a stream, as Connect and gRPC-Web frame it: one byte of flags, four bytes of length, and the bytes.
package struct Envelope: Sendable, Hashable {
  /// The length of the flags and the length.
  package static let prefixLength = 5

  /// The flag of a compressed message, in both protocols.
  package static let compressed: UInt8 = 0x01
  /// The flag of the end of a stream, in Connect.
  package static let endOfStream: UInt8 = 0x02
  /// The flag of the block of trailers, in gRPC-Web.
  package static let trailers: UInt8 = 0x80

  /// The flags.
  package let flags: UInt8
  /// The message, as it was sent.
  package let bytes: [UInt8]

  /// Creates an envelope.
  package init(flags: UInt8, bytes: [UInt8]) {
    self.flags = flags
    self.bytes = bytes
  }

  /// Whether the message is compressed.
  package var isCompressed: Bool { flags & Self.compressed != 0 }

  /// The bytes before a message; nil if its length does not fit into four bytes.
  package static func prefix(flags: UInt8, length: Int) -> [UInt8]? {
    guard let length = UInt32(exactly: length) else { return nil }
    return [flags] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) }
  }
}

/// The bytes of a stream are not envelopes.
package enum EnvelopeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A flag is set that the protocol does not define.
  case unknownFlags(UInt8)
  /// The declared length is above the limit.
  case tooLong(declared: Int, limit: Int)
  /// The stream ended inside an envelope.
  case truncated

  package var description: String {
    switch self {
    case .unknownFlags(let flags): "an envelope has the flags 0x\(String(flags, radix: 16)), which the protocol does not define"
    case .tooLong(let declared, let limit): "a message of the stream has \(declared) bytes, and at most \(limit) are accepted"
    case .truncated: "the stream was cut off inside a message"
    }
  }
}
