internal import Carabiner

/// What a database says of a record without its values.
package struct RecordSummary: Sendable, Hashable {
  package let key: String
  /// The object's type; nil if nothing tells it.
  package let type: String?
  /// How many fields it has.
  package let fieldCount: Int
  /// How many bytes the names and values of its fields have.
  package let byteCount: Int
  /// When its oldest field was received, in milliseconds since 1970.
  package let oldest: Int64
  /// When its newest field was received, in milliseconds since 1970.
  package let newest: Int64

  /// The type of a record: what `__typename` says, else what the form of its key does.
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
