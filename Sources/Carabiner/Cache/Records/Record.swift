public import FoundationEssentials

/// What a cache keeps under one key: the fields of an object, each with its raw JSON and the time it was received.
///
/// A field whose value is another record says `{"$ref":"KEY"}`; in a list each element does.
public struct Record: Sendable, Hashable {
  /// Names the record in its cache.
  public let key: String
  package var table: FieldTable

  package init(key: String, table: FieldTable) {
    self.key = key
    self.table = table
  }

  /// A record of these fields.
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

  /// When a field was received, in milliseconds since 1970; nil if there is none.
  public func received(_ name: String) -> Int64? { table.position(of: name).map { table.received(at: $0) } }

  /// Sets a field to raw JSON.
  public mutating func set(_ name: String, to value: [UInt8], received: Int64 = StoreClock.now) {
    table.set(name, to: value[...], received: received)
  }

  /// Removes a field; tells whether it was there.
  @discardableResult
  public mutating func remove(_ name: String) -> Bool { table.remove(name) }
}

/// The time as records carry it.
public enum StoreClock {
  /// Now, in milliseconds since 1970.
  public static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
