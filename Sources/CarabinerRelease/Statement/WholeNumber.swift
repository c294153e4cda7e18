/// A number in decimal digits, without sign and leading zeros.
enum WholeNumber {
  /// 2^53: every number up to it is exact in JSON too.
  static let maximum = 1 << 53

  /// - Returns: nil if the bytes are not such a number, or if it is above ``maximum``.
  static func value(_ digits: some Collection<UInt8>) -> Int? {
    guard (1...16).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
    var value = 0
    for byte in digits {
      guard let digit = byte.decimalDigit else { return nil }
      value = value * 10 + digit
    }
    return value <= maximum ? value : nil
  }
}
