/// The id of a trace: 16 bytes, not all of them zero.
package struct TraceID: Sendable, Hashable {
  package let high: UInt64
  package let low: UInt64

  /// Creates an id from its halves; nil if both are zero.
  package init?(high: UInt64, low: UInt64) {
    guard high | low != 0 else { return nil }
    self.high = high
    self.low = low
  }

  /// A new id.
  package static func random() -> TraceID {
    TraceID(high: IdentifierSource.shared.next(), low: IdentifierSource.shared.next()) ?? .random()
  }
}

extension TraceID: CustomStringConvertible {
  /// 32 hexadecimal digits in lower case.
  package var description: String { UInt64.hexadecimal(high, low) }
}

/// The id of a span: 8 bytes, not all of them zero.
package struct SpanID: Sendable, Hashable {
  package let number: UInt64

  /// Creates an id; nil for zero.
  package init?(_ number: UInt64) {
    guard number != 0 else { return nil }
    self.number = number
  }

  /// A new id.
  package static func random() -> SpanID { SpanID(IdentifierSource.shared.next()) ?? .random() }
}

extension SpanID: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  package var description: String { number.hexadecimal }
}

extension UInt64 {
  /// The number as 16 hexadecimal digits.
  package var hexadecimal: String { unsafe String(unsafeUninitializedCapacity: 16) { unsafe writeHexadecimal(to: $0) } }

  /// The digits of two numbers, 32 of them.
  package static func hexadecimal(_ high: UInt64, _ low: UInt64) -> String {
    unsafe String(unsafeUninitializedCapacity: 32) { digits in
      unsafe high.writeHexadecimal(to: digits)
        + low.writeHexadecimal(to: UnsafeMutableBufferPointer(rebasing: digits[16...]))
    }
  }

  private func writeHexadecimal(to digits: UnsafeMutableBufferPointer<UInt8>) -> Int {
    for index in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: self &>> UInt64(60 &- 4 &* index)) & 15
      unsafe digits[index] = digit < 10 ? UInt8(ascii: "0") &+ digit : UInt8(ascii: "a") &- 10 &+ digit
    }
    return 16
  }
}
