/// A JSON number with its original digits. Two numbers are equal if their digits are equal, so `1` and `1.0` are not.
///
/// It is converted only on demand, so no digit is lost when a number is forwarded.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
  /// The digits of the text.
  public let lexeme: String

  /// Creates an integer.
  public init(_ value: Int) { lexeme = String(value) }

  /// Creates a number from a floating-point value, without a fraction if it is integral; nil for NaN and infinities.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    let integer = Int(exact: value)
    lexeme = if let integer, value.sign == .plus || integer != 0 { String(integer) } else { "\(value)" }
  }

  /// Creates a number with these digits; nil if they are not a valid JSON number.
  public init?(lexeme: String) {
    let bytes = lexeme.utf8Span.span
    guard bytes.count > 0, bytes[0] == UInt8(ascii: "-") || bytes[0] &- UInt8(ascii: "0") < 10,
      let end = try? JSONScanner.numberEnd(from: 0, in: bytes), end == bytes.count
    else { return nil }
    self.lexeme = lexeme
  }

  init(checked lexeme: String) { self.lexeme = lexeme }

  /// The number as an integer; nil if it is not one or out of range. `1e3` and `2.0` are converted up to 2^53, where a `Double`
  /// is exact.
  public var int: Int? {
    if let value = Int(lexeme) { return value }
    return Double(lexeme).flatMap(Int.init(exact:))
  }

  /// The nearest floating-point value; infinity if the number is too large.
  public var double: Double { Double(lexeme) ?? .nan }

  /// The digits of the text.
  public var description: String { lexeme }
}

extension Int {
  /// An integer up to 2^53, above which a `Double` is not exact.
  ///
  /// `Int(exactly:)` calls the C library for rounding, and this module is linked without it.
  fileprivate init?(exact value: Double) {
    guard value.magnitude <= 9_007_199_254_740_992, Double(Int(value)) == value else { return nil }
    self.init(value)
  }
}
