/// A text is not a valid duration or size.
package struct MalformedQuantity: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problem and the notation to use.
  package let description: String
}

/// A number with its unit, such as `1.5s`.
struct Quantity {
  /// The number without its decimal point.
  let digits: Int64
  /// The number of digits after the decimal point.
  let decimals: Int
  let unit: Substring

  /// The most characters of a number. Products of 15 digits with every unit are checked for overflow.
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

  /// The number times a factor; nil if the product has a fraction or does not fit.
  func times(_ factor: Int64) -> Int64? {
    var divisor: Int64 = 1
    for _ in 0..<decimals { divisor *= 10 }
    let (product, overflow) = digits.multipliedReportingOverflow(by: factor)
    return overflow || product % divisor != 0 ? nil : product / divisor
  }
}
