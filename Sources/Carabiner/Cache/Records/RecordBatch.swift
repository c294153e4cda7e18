/// The records of a response, all in one buffer.
///
/// A cache usually contains them already, and compares them in place.
struct RecordBatch: Sendable {
  /// A record.
  struct Entry: Sendable {
    let key: String
    /// The index of its names in the lists of names of the batch.
    var names: Int
    /// The slots of its values.
    var slots: Range<Int>
    /// The range of the object in the buffer, if its text is the same as the store would write; otherwise nil.
    let objectText: Range<Int>?
  }

  /// The values of all records; some bytes belong to no record.
  let buffer: [UInt8]
  let slots: [FieldTable.Slot]
  let names: [FieldNames]
  /// The records in the order of the response. If two have the same key, the later one wins.
  let entries: [Entry]
  /// The time of receipt of the response in milliseconds since 1970.
  let received: Int64

  /// The records, each with its own buffer.
  var records: [Record] { entries.map { Record(key: $0.key, table: FieldTable(self, $0)) } }
}
