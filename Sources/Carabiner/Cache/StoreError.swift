/// A store cannot do what it was asked for.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A transaction was asked for inside a transaction of the same store.
    case reentrantTransaction
    /// A transaction was used after its end.
    case transactionEnded
    /// A record holds something that is not what its field needs.
    case malformedRecord
    /// An operation cannot be taken apart into records.
    case notNormalisable
    /// The database is no database, or damaged.
    case corrupt
    /// Another process holds the database.
    case locked
    /// The database cannot be written.
    case readOnly
    /// The database was made by a newer version.
    case newerVersion
    /// Another user could change the database.
    case unsafe
    /// The disk is full.
    case diskFull
    /// The database failed otherwise.
    case database
  }

  /// What kind of failure it was.
  public let code: Code
  /// What happened and what to do next, for a person.
  public let message: String

  /// An error with these parts.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }

  static func malformed(record: String, field: String) -> StoreError {
    StoreError(
      .malformedRecord, "the field \(field) of the record \(record) holds no reference to a record; remove the record")
  }
}
