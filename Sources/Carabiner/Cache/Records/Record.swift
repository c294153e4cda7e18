public import FoundationEssentials

/// The fields of an object in a cache, each with its raw JSON and its time of receipt.
///
/// The value of a field that refers to another record is `{"$ref":"KEY"}`, or a list of such references.
public struct Record: Sendable, Hashable {
  /// The key of the record in its cache.
  public let key: String
  package var table: FieldTable

  package init(key: String, table: FieldTable) {
    self.key = key
    self.table = table
  }

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - fields: Raw JSON by field.
  ///   - received: When the values were received, in milliseconds since 1970. The default is now.
  public init(key: String, fields: [String: Data], received: Int64 = StoreClock.now) {
    self.init(key: key, table: FieldTable())
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { set(name, to: [UInt8](value), received: received) }
  }

  /// Raw JSON by field.
  public var fields: [String: Data] {
    var fields: [String: Data] = [:]
    for (position, name) in table.names.enumerated() { fields[name] = Data(table.bytes(at: position)) }
    return fields
  }

  /// The names of the fields.
  public var names: [String] { table.names }

  /// The raw JSON of a field; nil if there is none.
  public subscript(name: String) -> [UInt8]? { table.position(of: name).map { Array(table.bytes(at: $0)) } }

  /// Whether a field is null.
  func isNull(_ name: String) -> Bool {
    table.position(of: name).map { table.bytes(at: $0).elementsEqual("null".utf8) } ?? false
  }

  /// The time of receipt of a field in milliseconds since 1970; nil if there is no such field.
  public func received(_ name: String) -> Int64? { table.position(of: name).map { table.received(at: $0) } }

  /// Sets a field to raw JSON.
  public mutating func set(_ name: String, to value: [UInt8], received: Int64 = StoreClock.now) {
    table.set(name, to: value[...], received: received)
  }

  /// Removes a field. Returns whether it existed.
  @discardableResult
  public mutating func remove(_ name: String) -> Bool { table.remove(name) }
}

/// The clock of records.
public enum StoreClock {
  /// The current time, in milliseconds since 1970.
  public static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
