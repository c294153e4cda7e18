internal import CSQLite
internal import Carabiner

/// A connection to a database with its prepared statements.
@safe final class SQLiteConnection: @unchecked Sendable {
  // Used by one thread at a time: by the holder of the writer's lock, or by the caller that took it from the pool.

  private let database: OpaquePointer
  private let path: String
  private var statements: [String: SQLiteStatement] = [:]

  /// Opens a database. If there is no file, it is created with access for its owner only.
  ///
  /// - Throws: ``StoreError``.
  init(_ file: StoreFile, busyTimeout: Double, isReadOnly: Bool) throws(StoreError) {
    let path = file.path
    file.make()
    try file.check()
    var opened: OpaquePointer?
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = unsafe sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
    guard let database = unsafe opened else {
      throw StoreError(.database, "there is no memory to open the database \(path)")
    }
    unsafe self.database = unsafe database
    self.path = path
    // The handle is kept also if opening failed: it has the error message, and `deinit` closes it.
    if code != SQLITE_OK { throw error(code) }
    unsafe sqlite3_busy_timeout(database, Int32(max(0, busyTimeout) * 1000))
    unsafe sqlite3_extended_result_codes(database, 1)
  }

  deinit {
    statements.removeAll()
    unsafe sqlite3_close_v2(database)
  }

  /// Runs statements without values.
  func execute(_ text: String) throws(StoreError) {
    let code = unsafe sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// The number that a statement returns; 0 if it returns no row.
  func number(_ text: String) throws(StoreError) -> Int64 {
    let statement = try statement(text)
    defer { statement.reset() }
    return try statement.step() ? statement.int(0) : 0
  }

  /// A prepared statement, which is prepared only once for each text.
  func statement(_ text: String) throws(StoreError) -> SQLiteStatement {
    if let known = statements[text] { return known }
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let pointer = unsafe prepared else { throw error(code) }
    let statement = unsafe SQLiteStatement(pointer, of: self)
    statements[text] = statement
    return statement
  }

  /// Runs work as one transaction. If the work throws, nothing is changed.
  func transaction<Result>(_ begin: String, _ work: () throws -> Result) throws -> Result {
    try statement(begin).run()
    do {
      let result = try work()
      try statement("COMMIT").run()
      return result
    } catch {
      // Some errors have already rolled back, so an error here does not matter.
      try? execute("ROLLBACK")
      throw error
    }
  }

  /// The error for a result code, with the message of the database.
  func error(_ result: Int32) -> StoreError {
    let words = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) } ?? "code \(result)"
    // The index of the log is a separate file, and usually the first one for which the disk is full.
    if result == CSQLite_noRoomForIndex { return .diskFull(path, words) }
    return switch result & 0xFF {
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      StoreError(.corrupt, "\(path) is damaged or not a database (\(words)); remove it together with its -wal and -shm files")
    case SQLITE_BUSY, SQLITE_LOCKED:
      StoreError(.locked, "\(path) is locked by another process (\(words)); end its transaction or raise the busy timeout")
    case SQLITE_READONLY, SQLITE_PERM:
      StoreError(.readOnly, "\(path) cannot be written (\(words)); check the permissions of the file and its folder")
    case SQLITE_FULL:
      .diskFull(path, words)
    case SQLITE_CANTOPEN:
      StoreError(
        .database,
        "\(path) cannot be opened (\(words)); check that the file is readable and its folder is writable")
    default: StoreError(.database, "\(path) failed: \(words) (code \(result))")
    }
  }
}

extension StoreError {
  fileprivate static func diskFull(_ path: String, _ words: String) -> StoreError {
    StoreError(.diskFull, "the disk of \(path) is full (\(words)); free space and repeat the write: nothing was changed")
  }
}
