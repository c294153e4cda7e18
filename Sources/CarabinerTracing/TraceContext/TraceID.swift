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
  package var description: String { high.hexadecimal + low.hexadecimal }
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
  package var hexadecimal: String {
    let digits = "0123456789abcdef".utf8Span.span
    var text = ""
    text.reserveCapacity(16)
    for shift in stride(from: 60, through: 0, by: -4) {
      text.unicodeScalars.append(Unicode.Scalar(digits[Int(self >> UInt64(shift) & 15)]))
    }
    return text
  }
}
