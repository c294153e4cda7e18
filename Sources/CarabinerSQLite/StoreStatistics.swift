/// What a database holds, as numbers.
package struct StoreStatistics: Sendable, Hashable {
  /// What the records of one type are.
  package struct TypeShare: Sendable, Hashable {
    /// How many records there are.
    package fileprivate(set) var recordCount = 0
    /// How many bytes the names and values of their fields have.
    package fileprivate(set) var byteCount = 0
  }

  /// The layout of the database.
  package let schemaVersion: Int64
  /// How large the database is without its log.
  package let fileBytes: Int64
  /// How large the write-ahead log is.
  package let logBytes: Int64
  /// How many records there are.
  package private(set) var recordCount = 0
  /// How many fields they have.
  package private(set) var fieldCount = 0
  /// How many bytes the names and values of the fields have.
  package private(set) var byteCount = 0
  /// When the oldest field was received, in milliseconds since 1970; nil if there is none.
  package private(set) var oldest: Int64?
  /// When the newest field was received, in milliseconds since 1970; nil if there is none.
  package private(set) var newest: Int64?
  /// What the types of the records are; under the empty name those of which nothing tells it.
  package private(set) var types: [String: TypeShare] = [:]

  init(schemaVersion: Int64, fileBytes: Int64, logBytes: Int64) {
    self.schemaVersion = schemaVersion
    self.fileBytes = fileBytes
    self.logBytes = logBytes
  }

  mutating func add(_ record: RecordSummary) {
    recordCount += 1
    fieldCount += record.fieldCount
    byteCount += record.byteCount
    oldest = min(oldest ?? record.oldest, record.oldest)
    newest = max(newest ?? record.newest, record.newest)
    types[record.type ?? "", default: TypeShare()].recordCount += 1
    types[record.type ?? "", default: TypeShare()].byteCount += record.byteCount
  }
}
