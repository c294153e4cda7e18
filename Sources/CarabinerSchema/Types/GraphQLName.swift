/// The grammar of names.
package enum GraphQLName {
  /// Whether a text is a name: letters, digits and underscores, and not a digit first.
  package static func isValid(_ text: some StringProtocol) -> Bool {
    let isDigit = { (byte: UInt8) in byte &- UInt8(ascii: "0") < 10 }
    guard let first = text.utf8.first, !isDigit(first) else { return false }
    return text.utf8.allSatisfy { isDigit($0) || ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "_") }
  }
}
