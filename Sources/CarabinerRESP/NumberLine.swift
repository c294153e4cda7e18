/// The text of a number in an answer: the rest of the line after the type.
struct NumberLine {
  /// The reason why a line is not a valid number.
  enum Fault: Error {
    case malformed(StaticString)
    /// A length of `?`, with which streamed types begin.
    case streamed
    /// A length that no limit allows.
    case tooLarge
  }

  private let line: ArraySlice<UInt8>

  init(_ line: ArraySlice<UInt8>) { self.line = line }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private var hasSign: Bool { line.first == 0x2D || line.first == 0x2B }

  private var unsigned: ArraySlice<UInt8> { hasSign ? line.dropFirst() : line }

  /// An integer of 64 bits.
  func integer() throws(Fault) -> Int {
    let isNegative = line.first == 0x2D
    guard !unsigned.isEmpty else { throw .malformed("an integer has no digits") }
    var value = 0
    for byte in unsigned {
      guard Self.isDigit(byte) else { throw .malformed("an integer has other characters than digits") }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // Below zero, because the smallest number has no positive counterpart.
      let (sum, isTooSmall) = product.subtractingReportingOverflow(Int(byte - 0x30))
      guard !isTooLarge, !isTooSmall else { throw .malformed("an integer has more than 64 bits") }
      value = sum
    }
    guard isNegative || value != .min else { throw .malformed("an integer has more than 64 bits") }
    return isNegative ? value : -value
  }

  /// A length or a number of values; nil for -1.
  func length() throws(Fault) -> Int? {
    if line.elementsEqual("-1".utf8) { return nil }
    if line.elementsEqual("?".utf8) { throw .streamed }
    guard !line.isEmpty, line.allSatisfy(Self.isDigit) else { throw .malformed("a length is not a number") }
    var value = 0
    for byte in line {
      value = value * 10 + Int(byte - 0x30)
      // Far above all limits, and far below an overflow.
      guard value <= Int(UInt32.max) else { throw .tooLarge }
    }
    return value
  }

  /// Whether the line is an integer of any length.
  var isBigNumber: Bool { !unsigned.isEmpty && unsigned.allSatisfy(Self.isDigit) }

  /// Whether the line is a number with or without a fraction and an exponent, infinite, or not a number.
  var isDouble: Bool {
    var rest = unsigned
    if rest.elementsEqual("inf".utf8) || rest.elementsEqual("nan".utf8) { return true }
    let whole = rest.prefix(while: Self.isDigit)
    rest = rest.dropFirst(whole.count)
    guard !whole.isEmpty else { return false }
    if rest.first == 0x2E {
      let fraction = rest.dropFirst().prefix(while: Self.isDigit)
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard let exponent = rest.first else { return true }
    guard exponent == 0x65 || exponent == 0x45 else { return false }
    rest = rest.dropFirst()
    if rest.first == 0x2B || rest.first == 0x2D { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(Self.isDigit)
  }
}
