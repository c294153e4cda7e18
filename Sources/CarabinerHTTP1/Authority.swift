/// A host with an optional port, as in the Host header (RFC 9110, 7.2).
public enum Authority {
  /// Whether bytes are a valid authority. The host must not be empty (RFC 9110, 4.2.1).
  public static func isValid(_ bytes: Span<UInt8>) -> Bool { isValid(bytes, at: 0..<bytes.count) }

  /// Whether a range is a valid authority. The host must not be empty (RFC 9110, 4.2.1).
  static func isValid(_ bytes: Span<UInt8>, at range: Range<Int>) -> Bool {
    var index = range.lowerBound
    if index < range.upperBound, bytes[index] == UInt8(ascii: "[") {
      index &+= 1
      while index < range.upperBound, bytes[index] == Byte.colon || isNameByte(bytes[index]) { index &+= 1 }
      guard index < range.upperBound, bytes[index] == UInt8(ascii: "]"), index > range.lowerBound &+ 1 else { return false }
      index &+= 1
    } else {
      while index < range.upperBound, isNameByte(bytes[index]) { index &+= 1 }
      guard index > range.lowerBound else { return false }
    }
    guard index < range.upperBound else { return true }
    guard bytes[index] == Byte.colon else { return false }
    return (index &+ 1..<range.upperBound).allSatisfy { Byte.isDigit(bytes[$0]) }
  }

  /// Whether a host name may have the byte: unreserved bytes, percent signs and sub-delimiters (RFC 3986, 3.2.2).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "!"), UInt8(ascii: "$")...UInt8(ascii: "."), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
