/// A text is no duration or size.
package struct MalformedQuantity: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong and what to write instead.
  package let description: String
}

/// A number and its unit, as `1.5s` has them.
struct Quantity {
  /// What the number is without its point.
  let digits: Int64
  /// How many of the digits stand behind the point.
  let decimals: Int
  let unit: Substring

  /// No quantity has more digits than this; 15 leave room for every factor below.
  private static let maximumDigits = 15

  /// Splits a text; nil if it does not begin with a plain decimal number.
  init?(_ text: String) {
    let number = text.prefix { ("0"..."9").contains($0) || $0 == "." }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), number.count <= Self.maximumDigits,
      let digits = Int64(parts.joined())
    else { return nil }
    self.digits = digits
    decimals = parts.count == 2 ? parts[1].count : 0
    unit = text[number.endIndex...]
  }

  /// The number times a factor; nil if that has a fraction or does not fit.
  func times(_ factor: Int64) -> Int64? {
    var divisor: Int64 = 1
    for _ in 0..<decimals { divisor *= 10 }
    let (product, overflow) = digits.multipliedReportingOverflow(by: factor)
    return overflow || product % divisor != 0 ? nil : product / divisor
  }
}
