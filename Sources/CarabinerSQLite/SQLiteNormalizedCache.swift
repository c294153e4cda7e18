public import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// A cache in a SQLite database, which keeps its records when the process ends, however it ends.
///
/// The table `fields` has a row for each field of a record: its record's key, its name, its raw JSON, and when it was received
/// in milliseconds since 1970. Every write is one transaction of a write-ahead log, so a record is never half written; what was
/// committed survives the end of the process, and the last commits may be lost when the machine loses power.
public final class SQLiteNormalizedCache: NormalizedCache {
  /// The layout of the database this version reads and writes.
  public static let schemaVersion: Int64 = 1

  private static let idleReaders = 4
  /// "CRBS", which says whose file it is.
  private static let applicationID: Int64 = 0x4352_4253

  /// Where the database is.
  public let path: String
  private let maximumFields: Int
  /// The place of the file without symbolic links.
  let file: StoreFile
  private let busyTimeout: Double
  private let isReadOnly: Bool
  private let writer: Mutex<SQLiteConnection>
  private let readers = Mutex<[SQLiteConnection]>([])
  /// How many fields of roots may be written before they are counted.
  private let freeRootFields = Mutex(0)

  /// Opens a database, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - path: Where the file is; next to it are others with `-wal` and `-shm` behind the name.
  ///   - busyTimeout: Seconds to wait for another process that writes.
  ///   - isReadOnly: Whether a write is refused even if the file allows it.
  ///   - maximumFields: About how many fields the record of a root may have. It has one for each list of arguments that was asked for;
  ///     the oldest are removed.
  ///   - mayBeForeign: Whether the file may belong to another user, as for root who looks after it. Otherwise it must belong to root or
  ///     the user of this process, and nobody else may replace it.
  /// - Throws: ``StoreError``: `corrupt`, `locked`, `readOnly`, `newerVersion`, `diskFull`, `unsafe`, `database`.
  public init(
    path: String, busyTimeout: Double = 5, isReadOnly: Bool = false,
    maximumFields: Int = InMemoryNormalizedCache.defaultMaximumFields, mayBeForeign: Bool = false
  ) throws {
    self.path = path
    self.maximumFields = max(1, maximumFields)
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    file = try StoreFile(path, isReadOnly: isReadOnly, mayBeForeign: mayBeForeign)
    let connection = try SQLiteConnection(file, busyTimeout: busyTimeout, isReadOnly: isReadOnly)
    try Self.prepare(connection, path: path, isReadOnly: isReadOnly)
    // The log is there now: in a folder that all may write to, another user may have been faster.
    try file.check()
    writer = Mutex(connection)
  }

  private static func prepare(_ connection: SQLiteConnection, path: String, isReadOnly: Bool) throws {
    let version = try connection.number("PRAGMA user_version")
    guard version <= schemaVersion else {
      throw StoreError(
        .newerVersion, "\(path) has version \(version) and this program reads \(schemaVersion); update it or use another file")
    }
    if version == schemaVersion {
      guard try connection.number("PRAGMA application_id") == applicationID else {
        throw StoreError(.corrupt, "\(path) is another program's database; use another file")
      }
    } else {
      guard try connection.number("SELECT count(*) FROM sqlite_master") == 0 else {
        throw StoreError(.corrupt, "\(path) is another program's database; use another file")
      }
      guard !isReadOnly else {
        throw StoreError(.readOnly, "\(path) is empty and was opened for reading only")
      }
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.transaction("BEGIN IMMEDIATE") {
        // Another process may have made it meanwhile.
        try connection.execute(
          """
          CREATE TABLE IF NOT EXISTS fields (
            key TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, received INTEGER NOT NULL, PRIMARY KEY (key, field)
          ) WITHOUT ROWID;
          PRAGMA application_id = \(applicationID);
          PRAGMA user_version = \(schemaVersion);
          """)
      }
    }
    try connection.execute("PRAGMA synchronous = NORMAL")
  }

  // MARK: Reading

  public func records(forKeys keys: [String]) async throws -> [Record?] {
    try reading { connection in
      var reader = try RecordReader(connection)
      guard keys.count > 1 else { return try keys.map { try reader.record($0) } }
      // As all of them were at one moment, and without a lock for each.
      return try connection.transaction("BEGIN") { try keys.map { try reader.record($0) } }
    }
  }

  public func record(forKey key: String, fields: () -> [String]) async throws -> Record? {
    try reading { connection in
      let (reader, fields) = (try RecordReader(connection), fields())
      guard fields.count > 1 else { return try reader.record(key, fields: fields, connection) }
      // As all of them were at one moment.
      return try connection.transaction("BEGIN") { try reader.record(key, fields: fields, connection) }
    }
  }

  public func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] {
    try await records(forKeys: Array(keys)).reduce(into: [:]) { found, record in
      if let record { found[record.key] = record }
    }
  }

  public func keys(matching pattern: String?) async throws -> [String] {
    let pattern = pattern.map { KeyPattern($0) }
    return try reading { connection in
      let statement = try connection.statement("SELECT DISTINCT key FROM fields")
      defer { statement.reset() }
      var keys: [String] = []
      while try statement.step() {
        let key = statement.string(0)
        if pattern?.matches(key) ?? true { keys.append(key) }
      }
      return keys
    }
  }

  /// Reads with a connection of its own, so that readers do not wait for each other.
  func reading<Result>(_ work: (SQLiteConnection) throws -> Result) throws -> Result {
    let connection =
      try readers.withLock { $0.popLast() }
      ?? SQLiteConnection(file, busyTimeout: busyTimeout, isReadOnly: isReadOnly)
    defer { readers.withLock { if $0.count < Self.idleReaders { $0.append(connection) } } }
    return try work(connection)
  }

  // MARK: Writing

  public func merge(records: RecordSet) async throws -> ChangedKeys {
    try await apply(removing: [], merging: records)
  }

  public func apply(removing keys: [String], merging records: RecordSet) async throws -> ChangedKeys {
    let list = records.list(policy: .default)
    guard !keys.isEmpty || !list.isEmpty else { return ChangedKeys() }
    return try writing { connection in
      var changed = ChangedKeys()
      for key in keys { changed.insert(try Self.remove(key, connection), of: key) }
      var writer = try RecordWriter(connection)
      for record in list { changed.insert(try writer.merge(record), of: record.key) }
      if writer.newRootFields > 0 { try limitRoots(connection, newFields: writer.newRootFields) }
      return changed
    }
  }

  public func removeRecord(for key: String) async throws { _ = try await apply(removing: [key], merging: RecordSet()) }

  public func clear() async throws {
    try writing { try $0.execute("DELETE FROM fields") }
  }

  /// Changes things in one transaction; nobody else writes meanwhile, in this process or another.
  func writing<Result: Sendable>(_ work: (SQLiteConnection) throws -> Result) throws -> Result {
    try writer.withLock { connection in
      try connection.transaction("BEGIN IMMEDIATE") { try work(connection) }
    }
  }

  /// Removes the oldest fields of roots; they are counted once for many writes.
  private func limitRoots(_ connection: SQLiteConnection, newFields: Int) throws {
    let isDue = freeRootFields.withLock { free in
      free -= newFields
      return free < 0
    }
    guard isDue else { return }
    // Another process may write too, so what this one counted before is not trusted for long.
    let spare = max(1, maximumFields / 8)
    for root in RootRecord.allCases {
      try RootTrimmer(connection, root.rawValue).trim(keeping: maximumFields - spare, ifMoreThan: maximumFields)
    }
    freeRootFields.withLock { $0 = spare }
  }

  /// Removes a record; gives the names of its fields.
  static func remove(_ key: String, _ connection: SQLiteConnection) throws -> [String] {
    let statement = try connection.statement("DELETE FROM fields WHERE key = ? RETURNING field")
    try statement.bind(key.utf8Span.span, at: 1)
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }
}
