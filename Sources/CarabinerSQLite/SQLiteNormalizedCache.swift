public import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// A cache in a SQLite database. Its records survive the end of the process, also after a crash.
///
/// The table `fields` has one row for each field of a record: the key of the record, the name, the raw JSON, and the time of receipt in
/// milliseconds since 1970. Each write is one transaction in a write-ahead log, so a record is never half written. If the machine loses
/// power, the last transactions may be lost.
public final class SQLiteNormalizedCache: NormalizedCache {
  /// The version of the database schema.
  public static let schemaVersion: Int64 = 1
  /// The default of the maximum size, 256 MiB.
  public static let defaultMaximumBytes = 256 << 20

  private static let idleReaders = 4
  /// A smaller maximum is raised to this one: below it, empty pages count more than values.
  private static let leastMaximumBytes = 64 << 10
  /// "CRBS", the application id of the file.
  private static let applicationID: Int64 = 0x4352_4253

  /// The path of the database.
  public let path: String
  private let maximumFields: Int
  private let maximumBytes: Int
  /// The path of the file without symbolic links.
  let file: StoreFile
  private let busyTimeout: Double
  private let isReadOnly: Bool
  private let writer: Mutex<SQLiteConnection>
  private let readers = Mutex<[SQLiteConnection]>([])
  /// The number of root fields that may be written before they are counted again.
  private let freeRootFields = Mutex(0)
  /// The number of bytes that may be written before the size is looked at again.
  private let freeBytes = Mutex(0)
  private let evicted = Atomic<Int>(0)

  /// The number of values that were removed because the database had reached its maximum size.
  package var evictedValues: Int { evicted.load(ordering: .relaxed) }

  /// Opens a database, or creates it.
  ///
  /// - Parameters:
  ///   - path: The path of the file. The database also creates files with the suffixes `-wal` and `-shm`.
  ///   - busyTimeout: The maximum time to wait for a write of another process, in seconds.
  ///   - isReadOnly: Whether writes fail even if the file is writable.
  ///   - maximumFields: The maximal number of fields of the record of a root, approximately. The record has one field for each list of
  ///     arguments; the oldest are removed.
  ///   - maximumBytes: The maximal size of the database, approximately and without its log. Above it, the values that were received
  ///     longest ago are removed. A larger file does not become smaller, but its free pages are used again.
  ///   - mayBeForeign: Whether the file may belong to another user, for example when root inspects it. If false, it must belong to root
  ///     or to the user of this process, and no other user may be able to replace it.
  /// - Throws: ``StoreError`` with code `corrupt`, `locked`, `readOnly`, `newerVersion`, `diskFull`, `unsafe` or `database`.
  public init(
    path: String, busyTimeout: Double = 5, isReadOnly: Bool = false,
    maximumFields: Int = InMemoryNormalizedCache.defaultMaximumFields,
    maximumBytes: Int = SQLiteNormalizedCache.defaultMaximumBytes,
    mayBeForeign: Bool = false
  ) throws {
    self.path = path
    self.maximumFields = max(1, maximumFields)
    self.maximumBytes = max(Self.leastMaximumBytes, maximumBytes)
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    file = try StoreFile(path, isReadOnly: isReadOnly, mayBeForeign: mayBeForeign)
    let connection = try SQLiteConnection(file, busyTimeout: busyTimeout, isReadOnly: isReadOnly)
    try Self.prepare(connection, path: path, isReadOnly: isReadOnly)
    // The log exists now. In a folder that all users may write to, another user may have created it first.
    try file.check()
    writer = Mutex(connection)
  }

  private static func prepare(_ connection: SQLiteConnection, path: String, isReadOnly: Bool) throws {
    let version = try connection.number("PRAGMA user_version")
    guard version <= schemaVersion else {
      throw StoreError(
        .newerVersion,
        "\(path) has version \(version) and this program supports version \(schemaVersion); update the program or use another file"
      )
    }
    if version == schemaVersion {
      guard try connection.number("PRAGMA application_id") == applicationID else {
        throw StoreError(.corrupt, "\(path) is a database of another program; use another file")
      }
    } else {
      guard try connection.number("SELECT count(*) FROM sqlite_master") == 0 else {
        throw StoreError(.corrupt, "\(path) is a database of another program; use another file")
      }
      guard !isReadOnly else {
        throw StoreError(.readOnly, "\(path) is empty and was opened read-only; open it for writing first")
      }
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.transaction("BEGIN IMMEDIATE") {
        // Another process may have created it in the meantime.
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
      // One transaction gives a consistent view and takes only one lock.
      return try connection.transaction("BEGIN") { try keys.map { try reader.record($0) } }
    }
  }

  public func record(forKey key: String, fields: () -> [String]) async throws -> Record? {
    try reading { connection in
      let (reader, fields) = (try RecordReader(connection), fields())
      guard fields.count > 1 else { return try reader.record(key, fields: fields, connection) }
      // One transaction gives a consistent view.
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

  /// Reads with a separate connection, so that readers do not wait for each other.
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
      if writer.writtenBytes > 0 { try limitSize(connection, newBytes: writer.writtenBytes) }
      return changed
    }
  }

  public func removeRecord(for key: String) async throws { _ = try await apply(removing: [key], merging: RecordSet()) }

  public func clear() async throws {
    try writing { try $0.execute("DELETE FROM fields") }
  }

  /// Writes in one transaction. Other writers wait, in this process and in others.
  func writing<Result: Sendable>(_ work: (SQLiteConnection) throws -> Result) throws -> Result {
    try writer.withLock { connection in
      try connection.transaction("BEGIN IMMEDIATE") { try work(connection) }
    }
  }

  /// Removes the oldest fields of roots. They are counted once for many writes.
  private func limitRoots(_ connection: SQLiteConnection, newFields: Int) throws {
    let isDue = freeRootFields.withLock { free in
      free -= newFields
      return free < 0
    }
    guard isDue else { return }
    // Other processes may write too, so the count is not trusted for long.
    let spare = max(1, maximumFields / 8)
    for root in RootRecord.allCases {
      try RootTrimmer(connection, root.rawValue).trim(keeping: maximumFields - spare, ifMoreThan: maximumFields)
    }
    freeRootFields.withLock { $0 = spare }
  }

  /// Removes the oldest values if the database is too large. Its size is looked at once for many writes.
  private func limitSize(_ connection: SQLiteConnection, newBytes: Int) throws {
    let isDue = freeBytes.withLock { free in
      free -= newBytes
      return free < 0
    }
    guard isDue else { return }
    let trimmer = FileTrimmer(connection)
    let spare = maximumBytes / 8
    var room = maximumBytes - (try trimmer.usedBytes())
    if room < 0 {
      let removed = try trimmer.trim(keeping: maximumBytes - spare)
      evicted.wrappingAdd(removed, ordering: .relaxed)
      room = spare
    }
    // Pages are not full, and other processes may write too.
    freeBytes.withLock { $0 = min(room, spare) / 2 }
  }

  /// Removes a record and returns the names of its fields.
  static func remove(_ key: String, _ connection: SQLiteConnection) throws -> [String] {
    let statement = try connection.statement("DELETE FROM fields WHERE key = ? RETURNING field")
    try statement.bind(key.utf8Span.span, at: 1)
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }
}
