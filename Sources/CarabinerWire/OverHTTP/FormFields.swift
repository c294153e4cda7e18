/// The fields of an HTML form, `application/x-www-form-urlencoded`.
package struct FormFields: Sendable {
  private var fields: [String: String] = [:]

  /// Parses a body; nil if it is malformed or repeats a name.
  package init?(_ body: [UInt8]) {
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = parts.count == 2 ? Self.decoded(parts[1]) : "",
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
  }

  package subscript(name: String) -> String? { fields[name] }

  private static func decoded(_ text: ArraySlice<UInt8>) -> String? { PercentEncoding.decoded(text, plusIsSpace: true) }
}
