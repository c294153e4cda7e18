internal import Carabiner

/// A record without its values.
package struct RecordSummary: Sendable, Hashable {
  package let key: String
  /// The type of the object; nil if it is not known.
  package let type: String?
  /// The number of its fields.
  package let fieldCount: Int
  /// The size of the names and values of its fields in bytes.
  package let byteCount: Int
  /// When its oldest field was received, in milliseconds since 1970.
  package let oldest: Int64
  /// When its newest field was received, in milliseconds since 1970.
  package let newest: Int64

  /// The type of a record: `__typename`, or the type in its key.
  package static func type(ofKey key: String, typename: String?) -> String? {
    if let typename, typename.utf8.count > 2 { return String(typename.dropFirst().dropLast()) }
    if let root = RootRecord(rawValue: key) { return root.typeName }
    guard let colon = key.utf8.firstIndex(of: UInt8(ascii: ":")), colon != key.startIndex else { return nil }
    let isName = key.utf8[..<colon].allSatisfy {
      $0 &- UInt8(ascii: "0") < 10 || ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "_")
    }
    return isName ? String(key[..<colon]) : nil
  }
}
