public import FoundationEssentials

/// What a cache keeps under one key.
public struct Record: Sendable, Hashable {
  /// Names the record in its cache.
  public var key: String
  /// Raw JSON by field.
  public var fields: [String: Data]

  /// A record of these fields.
  public init(key: String, fields: [String: Data]) {
    self.key = key
    self.fields = fields
  }
}

/// Records by key.
public struct RecordSet: Sendable, Hashable {
  /// The records, by key.
  public private(set) var records: [String: Record] = [:]

  /// A set of these records; of two with one key the fields are merged, the later winning.
  public init(_ records: some Sequence<Record> = []) {
    for record in records { insert(record) }
  }

  /// Adds a record; fields of a record already there are merged, the new ones winning.
  public mutating func insert(_ record: Record) {
    records[record.key, default: Record(key: record.key, fields: [:])].fields.merge(record.fields) { $1 }
  }

  /// Whether there are no records.
  public var isEmpty: Bool { records.isEmpty }
}
