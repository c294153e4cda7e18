/// Bytes written as a percent sign and two digits.
package enum PercentEncoding {
  /// The decoded text; nil if a percent sign is not followed by two digits, or if the bytes are not UTF-8.
  ///
  /// - Parameter plusIsSpace: Whether a plus sign means a space, as in forms.
  package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
