/// The fields that a write changed.
public struct ChangedKeys: Sendable {
  /// Fields of one record.
  public struct Entry: Sendable {
    /// The record's key.
    public let key: String
    /// The fields.
    public let fields: [String]

    /// Creates an entry.
    public init(key: String, fields: [String]) {
      self.key = key
      self.fields = fields
    }
  }

  /// The changed fields by record. A record may occur twice.
  public private(set) var entries: [Entry] = []

  /// Creates an empty set.
  public init() {}

  /// Adds fields of a record.
  public mutating func insert(_ fields: [String], of key: String) {
    if !fields.isEmpty { entries.append(Entry(key: key, fields: fields)) }
  }

  /// Adds the changes of another write.
  public mutating func formUnion(_ other: ChangedKeys) { entries += other.entries }

  /// Whether nothing changed.
  public var isEmpty: Bool { entries.isEmpty }

  /// The number of changed fields. A field that was changed twice counts twice.
  package var fieldCount: Int { entries.reduce(0) { $0 + $1.fields.count } }

  /// The changed fields as `record.field`. It is computed on demand, because most writes have no watcher.
  public var keys: Set<String> {
    entries.reduce(into: []) { keys, entry in
      for field in entry.fields { keys.insert("\(entry.key).\(field)") }
    }
  }
}
