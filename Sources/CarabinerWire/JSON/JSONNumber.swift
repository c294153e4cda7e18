/// A JSON number as it was written; two are equal if they were written alike, so `1` and `1.0` are not.
///
/// It is converted only on demand, so no digit is lost when a number is passed on.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
  /// The digits of the text.
  public let lexeme: String

  /// An integer.
  public init(_ value: Int) { lexeme = String(value) }

  /// A floating-point value, written without a fraction if it has none; nil for NaN and infinities, which JSON cannot represent.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    let integer = Int(exact: value)
    lexeme = if let integer, value.sign == .plus || integer != 0 { String(integer) } else { "\(value)" }
  }

  /// A number written like this; nil if it is none.
  public init?(lexeme: String) {
    let bytes = lexeme.utf8Span.span
    guard bytes.count > 0, bytes[0] == UInt8(ascii: "-") || bytes[0] &- UInt8(ascii: "0") < 10,
      let end = try? JSONScanner.numberEnd(from: 0, in: bytes), end == bytes.count
    else { return nil }
    self.lexeme = lexeme
  }

  init(checked lexeme: String) { self.lexeme = lexeme }

  /// The number as an integer, if it is one and fits; `1e3` and `2.0` count up to 2^53, where a `Double` is still exact.
  public var int: Int? {
    if let value = Int(lexeme) { return value }
    return Double(lexeme).flatMap(Int.init(exact:))
  }

  /// The nearest floating-point value; infinite if the number is too large for one.
  public var double: Double { Double(lexeme) ?? .nan }

  /// The digits of the text.
  public var description: String { lexeme }
}

extension Int {
  /// A whole number up to 2^53, beyond which a `Double` does not know its last digits.
  ///
  /// `Int(exactly:)` would ask the C library to round, and this module is linked without one.
  fileprivate init?(exact value: Double) {
    guard value.magnitude <= 9_007_199_254_740_992, Double(Int(value)) == value else { return nil }
    self.init(value)
  }
}
