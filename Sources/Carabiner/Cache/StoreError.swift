/// An operation on a store failed.
public struct StoreError: DescribedError, Sendable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The store was used inside one of its own transactions.
    case reentrantTransaction
    /// A transaction was used after its end.
    case transactionEnded
    /// The value of a field of a record is malformed.
    case malformedRecord
    /// The data does not have the shape of its document.
    case notNormalisable
    /// The file is not a database, or it is damaged.
    case corrupt
    /// Another process has locked the database.
    case locked
    /// The database cannot be written.
    case readOnly
    /// The database was created by a newer version.
    case newerVersion
    /// Another user could change the database.
    case unsafe
    /// A cache that is shared with other processes cannot be reached, or does not answer in time.
    case unavailable
    /// Another process changed what a transaction has read. Nothing was written.
    case conflict
    /// The disk is full.
    case diskFull
    /// Another error of the database.
    case database
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and what to do next.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var errorDescription: String? { message }

  public var description: String { "\(message) [\(code.rawValue)]" }

  static func malformed(record: String, field: String) -> StoreError {
    StoreError(
      .malformedRecord, "the field \(field) of the record \(record) holds no reference to a record; remove the record")
  }
}
