internal import CSQLite
internal import Carabiner

/// A prepared statement of a connection.
@safe final class SQLiteStatement {
  private let statement: OpaquePointer
  // The connection owns its statements, and so outlives them.
  private unowned let connection: SQLiteConnection

  init(_ statement: OpaquePointer, of connection: SQLiteConnection) {
    unsafe self.statement = unsafe statement
    self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(statement) }

  /// Sets a value, counted from 1, to a text in UTF-8.
  func bind(_ bytes: Span<UInt8>, at index: Int32) throws(StoreError) {
    let code = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe CSQLite_bindText(
        statement, index, UnsafeRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
    }
    guard code == SQLITE_OK else { throw connection.error(code) }
  }

  /// Sets a value, counted from 1, to a number.
  func bind(_ number: Int64, at index: Int32) throws(StoreError) {
    let code = unsafe sqlite3_bind_int64(statement, index, number)
    guard code == SQLITE_OK else { throw connection.error(code) }
  }

  /// Moves to the next row. Returns whether there is one.
  func step() throws(StoreError) -> Bool {
    let code = unsafe sqlite3_step(statement)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.error(code)
    }
  }

  /// Resets the statement, so that it holds no lock and can be used again.
  func reset() { unsafe sqlite3_reset(statement) }

  /// Runs a statement without results.
  func run() throws(StoreError) {
    defer { reset() }
    while try step() {}
  }

  /// A number of the row, counted from 0.
  func int(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }

  /// Whether there is no value in a column of the row, counted from 0.
  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(statement, column) == SQLITE_NULL }

  /// A text of the row, counted from 0, as bytes.
  func bytes(_ column: Int32) -> [UInt8] {
    guard let text = unsafe sqlite3_column_text(statement, column) else { return [] }
    return unsafe Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
  }

  /// Appends a text of the row, counted from 0.
  func append(_ column: Int32, to bytes: inout [UInt8]) {
    guard let text = unsafe sqlite3_column_text(statement, column) else { return }
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
  }

  /// Whether a text of the row, counted from 0, has these bytes.
  func has(_ bytes: Span<UInt8>, in column: Int32) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe CSQLite_columnIs(statement, column, buffer.baseAddress, Int32(buffer.count)) != 0
    }
  }

  /// A text of the row, counted from 0.
  func string(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}
