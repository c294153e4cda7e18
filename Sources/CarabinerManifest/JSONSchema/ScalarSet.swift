/// A set of Unicode scalars, such as a character class of a regular expression.
struct ScalarSet: Sendable, Hashable {
  var ranges: [ClosedRange<UInt32>]
  var isNegated = false

  init(_ ranges: ClosedRange<UInt32>...) { self.ranges = ranges }

  init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }

  func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } != isNegated }

  /// The ranges of the set without the negation flag, for use in another set.
  var flattened: [ClosedRange<UInt32>] {
    guard isNegated else { return ranges }
    var result: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    return next <= 0x10FFFF ? result + [next...0x10FFFF] : result
  }

  func negated() -> ScalarSet {
    var set = self
    set.isNegated.toggle()
    return set
  }

  static let digit = ScalarSet(0x30...0x39)
  static let word = ScalarSet(0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A)
  /// White space and line ends, as in ECMAScript.
  static let space = ScalarSet(
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F,
    0x3000...0x3000, 0xFEFF...0xFEFF)
  /// The characters that a dot matches: all except line ends.
  static let inLine = ScalarSet(0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029).negated()
}
