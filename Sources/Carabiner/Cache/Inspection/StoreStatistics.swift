/// The statistics of a store.
package struct StoreStatistics: Sendable, Hashable {
  /// The records of one type.
  package struct TypeShare: Sendable, Hashable {
    /// The number of records.
    package fileprivate(set) var recordCount = 0
    /// The size of the names and values of their fields in bytes.
    package fileprivate(set) var byteCount = 0
  }

  /// The version of the database schema, or of the layout in Redis.
  package let schemaVersion: Int64
  /// The size of the database in bytes, without its log; nil if the store is not in a file.
  package let fileBytes: Int64?
  /// The size of the write-ahead log in bytes; nil if the store is not in a file.
  package let logBytes: Int64?
  /// The number of records.
  package private(set) var recordCount = 0
  /// The number of their fields.
  package private(set) var fieldCount = 0
  /// The size of the names and values of the fields in bytes.
  package private(set) var byteCount = 0
  /// When the oldest field was received, in milliseconds since 1970; nil if there is none.
  package private(set) var oldest: Int64?
  /// When the newest field was received, in milliseconds since 1970; nil if there is none.
  package private(set) var newest: Int64?
  /// The records by type. The empty name is for records whose type is not known.
  package private(set) var types: [String: TypeShare] = [:]

  /// Creates statistics without records.
  package init(schemaVersion: Int64, fileBytes: Int64? = nil, logBytes: Int64? = nil) {
    self.schemaVersion = schemaVersion
    self.fileBytes = fileBytes
    self.logBytes = logBytes
  }

  /// Counts a record.
  package mutating func add(_ record: RecordSummary) {
    recordCount += 1
    fieldCount += record.fieldCount
    byteCount += record.byteCount
    oldest = min(oldest ?? record.oldest, record.oldest)
    newest = max(newest ?? record.newest, record.newest)
    types[record.type ?? "", default: TypeShare()].recordCount += 1
    types[record.type ?? "", default: TypeShare()].byteCount += record.byteCount
  }
}
