/// The records of a response, all in one buffer.
///
/// A cache that has them already, as it mostly does, compares them where they are.
struct RecordBatch: Sendable {
  /// A record.
  struct Entry: Sendable {
    let key: String
    /// Which of the batch's lists of names is its.
    var names: Int
    /// Where its values are.
    var slots: Range<Int>
    /// Where the record's object is in the buffer, if it is written there as the store would write it.
    let objectText: Range<Int>?
  }

  /// The values of all records; some bytes belong to no record.
  let buffer: [UInt8]
  let slots: [FieldTable.Slot]
  let names: [FieldNames]
  /// The records in the order they came; two may have one key, and the later wins.
  let entries: [Entry]
  /// When the response was received, in milliseconds since 1970.
  let received: Int64

  /// Each record with a buffer of its own.
  var records: [Record] { entries.map { Record(key: $0.key, table: FieldTable(self, $0)) } }
}
