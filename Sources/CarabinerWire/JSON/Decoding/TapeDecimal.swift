/// A number of a few digits without an exponent, such as `-12.50`.
struct TapeDecimal {
  private let isNegative: Bool
  /// The digits without the point.
  private let digits: UInt64
  /// 10 to the power of the number of digits after the point; 1 if there are none.
  private let divisor: Double
  private let isInteger: Bool

  /// Reads a valid JSON number; nil if it has an exponent or more than 15 digits.
  init?(_ bytes: Span<UInt8>) {
    var offset = 0
    isNegative = bytes[0] == UInt8(ascii: "-")
    if isNegative { offset = 1 }
    // With the point. 15 digits are below 2^53, so that they and the divisor are exact.
    guard bytes.count - offset <= 16 else { return nil }
    var (digits, divisor, isInteger) = (UInt64(0), 1.0, true)
    while offset < bytes.count {
      let digit = bytes[offset] &- UInt8(ascii: "0")
      if digit < 10 {
        digits = digits &* 10 &+ UInt64(digit)
        if !isInteger { divisor *= 10 }
      } else if bytes[offset] == UInt8(ascii: ".") {
        isInteger = false
      } else {
        return nil
      }
      offset &+= 1
    }
    // Sixteen digits without a point.
    guard digits < 1_000_000_000_000_000 else { return nil }
    (self.digits, self.divisor, self.isInteger) = (digits, divisor, isInteger)
  }

  /// The number as an integer; nil if it has a point.
  var int: Int64? { isInteger ? (isNegative ? -Int64(digits) : Int64(digits)) : nil }

  /// The nearest floating-point value: a single division of exact values is rounded correctly.
  var double: Double {
    let magnitude = Double(digits) / divisor
    return isNegative ? -magnitude : magnitude
  }
}

extension TapeText {
  /// The number of an entry; nil if it has an exponent or many digits.
  func decimal(_ entry: Int32) -> TapeDecimal? {
    let entry = entries[Int(entry)]
    return withBytes { TapeDecimal($0.extracting(Int(entry.start)..<Int(entry.end))) }
  }
}
