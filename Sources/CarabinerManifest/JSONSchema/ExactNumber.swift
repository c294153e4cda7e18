internal import CarabinerWire

/// A JSON number with its exact value: `1`, `1.0` and `10e-1` are equal, 2^53 and 2^53 + 1 are not.
struct ExactNumber: Sendable, Hashable, Comparable {
  private let isNegative: Bool
  /// Decimal digits without leading or trailing zeros; empty for zero.
  private let digits: [UInt8]
  /// The power of ten that the digits are multiplied with.
  private let exponent: Int

  /// The limit for exponents. Larger ones are clamped, so that sums stay within an `Int`.
  private static let farthestExponent = 1 << 40

  init(_ number: JSONNumber) {
    let bytes = Array(number.lexeme.utf8)
    let mark = bytes.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? bytes.endIndex
    let written = String(decoding: bytes[mark...].dropFirst().drop { $0 == UInt8(ascii: "+") }, as: UTF8.self)
    let far = written.hasPrefix("-") ? -Self.farthestExponent : Self.farthestExponent
    var exponent = written.isEmpty ? 0 : Int(written).map { min(max($0, -Self.farthestExponent), Self.farthestExponent) } ?? far
    var digits: [UInt8] = []
    var isFraction = false
    for byte in bytes[..<mark] {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "-"): continue
      default:
        if isFraction { exponent -= 1 }
        if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte - UInt8(ascii: "0")) }
      }
    }
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    self.digits = digits
    self.exponent = digits.isEmpty ? 0 : exponent
    isNegative = bytes.first == UInt8(ascii: "-") && !digits.isEmpty
  }

  /// Whether the number has no fraction.
  var isInteger: Bool { exponent >= 0 }
  /// Whether the number is greater than zero.
  var isPositive: Bool { !isNegative && !digits.isEmpty }

  /// The canonical notation. Equal numbers have the same.
  var canonical: JSONNumber? {
    let text = digits.isEmpty ? "0" : String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    return JSONNumber(lexeme: "\(isNegative ? "-" : "")\(text)e\(exponent)")
  }

  static func < (left: ExactNumber, right: ExactNumber) -> Bool {
    if left.sign != right.sign { return left.sign < right.sign }
    return left.isNegative ? right.isNearer(than: left) : left.isNearer(than: right)
  }

  private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

  /// Whether the number is nearer to zero than another one.
  private func isNearer(than other: ExactNumber) -> Bool {
    let (mine, others) = (digits.count + exponent, other.digits.count + other.exponent)
    return mine != others ? mine < others : digits.lexicographicallyPrecedes(other.digits)
  }

  /// Whether the number is a whole multiple of `step`; nil if the step is zero or has more than 18 digits.
  func isMultiple(of step: ExactNumber) -> Bool? {
    guard let divisor = step.magnitude, divisor > 0 else { return nil }
    guard !digits.isEmpty else { return true }
    // The digits do not end in zero, so no power of ten divides them.
    guard exponent >= step.exponent else { return false }
    func times(_ left: UInt64, _ right: UInt64) -> UInt64 {
      divisor.dividingFullWidth(left.multipliedFullWidth(by: right)).remainder
    }
    var remainder: UInt64 = 0
    for digit in digits { remainder = (times(remainder, 10 % divisor) + UInt64(digit)) % divisor }
    var (power, factor) = (exponent - step.exponent, 10 % divisor)
    while power > 0, remainder != 0 {
      if power & 1 == 1 { remainder = times(remainder, factor) }
      factor = times(factor, factor)
      power >>= 1
    }
    return remainder == 0
  }

  private var magnitude: UInt64? {
    digits.count > 18 ? nil : digits.reduce(0) { $0 * 10 + UInt64($1) }
  }
}

extension JSONValue {
  /// The value with canonical numbers, so that `==` is the equality of JSON Schema.
  var canonical: JSONValue {
    switch self {
    case .number(let number): .number(ExactNumber(number).canonical ?? number)
    case .array(let elements): .array(elements.map(\.canonical))
    case .object(let object): .object(JSONObject(object.lazy.map { ($0.key, $0.value.canonical) }))
    case .null, .bool, .string: self
    }
  }
}
