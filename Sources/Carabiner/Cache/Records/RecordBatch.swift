/// The records of a response, all in one buffer.
///
/// A cache usually contains them already, and compares them in place. The batch is a class, because results are copied often, and each
/// copy would increment all reference counts in it.
final class RecordBatch: Sendable {
  /// A record. It has no references, so that copying it is cheap.
  struct Entry: Sendable {
    /// The range of its key in ``RecordBatch/keys``.
    let key: Range<Int>
    /// The index of its names in the lists of names of the batch.
    var names: Int
    /// The slots of its values.
    var slots: Range<Int>
    /// The range of the object in the buffer, if its text is the same as the store would write; otherwise nil.
    let objectText: Range<Int>?
  }

  /// The values of all records; some bytes belong to no record.
  let buffer: [UInt8]
  /// The keys of all records, in UTF-8.
  let keys: [UInt8]
  let slots: [FieldTable.Slot]
  let names: [FieldNames]
  /// The records in the order of the response. If two have the same key, the later one wins.
  let entries: [Entry]
  /// The time of receipt of the response in milliseconds since 1970.
  let received: Int64

  init(
    buffer: [UInt8], keys: [UInt8], slots: [FieldTable.Slot], names: [FieldNames], entries: [Entry], received: Int64
  ) {
    self.buffer = buffer
    self.keys = keys
    self.slots = slots
    self.names = names
    self.entries = entries
    self.received = received
  }

  /// The key of a record.
  func key(of entry: Entry) -> String { String(decoding: keys[entry.key], as: UTF8.self) }

  /// The records, each with its own buffer.
  var records: [Record] { entries.map { Record(key: key(of: $0), table: FieldTable(self, $0)) } }
}
