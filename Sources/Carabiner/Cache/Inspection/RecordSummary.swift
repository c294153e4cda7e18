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

  /// Creates a summary of a record that was counted elsewhere.
  package init(key: String, type: String?, fieldCount: Int, byteCount: Int, oldest: Int64, newest: Int64) {
    (self.key, self.type) = (key, type)
    (self.fieldCount, self.byteCount) = (fieldCount, byteCount)
    (self.oldest, self.newest) = (oldest, newest)
  }

  /// Creates the summary of a record.
  package init(_ record: Record) {
    let names = record.names
    let times = names.compactMap { record.received($0) }
    let typename = record["__typename"].map { String(decoding: $0, as: UTF8.self) }
    self.init(
      key: record.key, type: Self.type(ofKey: record.key, typename: typename), fieldCount: names.count,
      byteCount: names.reduce(0) { $0 + $1.utf8.count + (record[$1]?.count ?? 0) }, oldest: times.min() ?? 0,
      newest: times.max() ?? 0)
  }

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
