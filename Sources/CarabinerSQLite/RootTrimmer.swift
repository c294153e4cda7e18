internal import Carabiner

/// Removes the oldest fields of a root's record.
struct RootTrimmer {
  private let connection: SQLiteConnection
  private let key: String

  init(_ connection: SQLiteConnection, _ key: String) {
    self.connection = connection
    self.key = key
  }

  /// Removes the oldest fields with arguments if the record has too many fields. The number of other fields is limited by the schema.
  func trim(keeping kept: Int, ifMoreThan maximum: Int) throws {
    let count = try fieldCount()
    guard count > maximum else { return }
    for field in try oldestFields(count - kept) {
      try remove(field)
      try removeParts(under: "\(key).\(field)")
    }
  }

  private func fieldCount() throws -> Int {
    let statement = try connection.statement("SELECT count(*) FROM fields WHERE key = ?")
    try statement.bind(key.utf8Span.span, at: 1)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int(0)) : 0
  }

  private func oldestFields(_ count: Int) throws -> [String] {
    let statement = try connection.statement(
      "SELECT field FROM fields WHERE key = ? AND instr(field, '(') > 0 ORDER BY received, field LIMIT ?")
    try statement.bind(key.utf8Span.span, at: 1)
    try statement.bind(Int64(count), at: 2)
    defer { statement.reset() }
    var fields: [String] = []
    while try statement.step() { fields.append(statement.string(0)) }
    return fields
  }

  private func remove(_ field: String) throws {
    let statement = try connection.statement("DELETE FROM fields WHERE key = ? AND field = ?")
    try statement.bind(key.utf8Span.span, at: 1)
    try statement.bind(field.utf8Span.span, at: 2)
    try statement.run()
  }

  /// Removes the objects without a key below a field. They are stored under its path.
  private func removeParts(under path: String) throws {
    let statement = try connection.statement("DELETE FROM fields WHERE key = ? OR key >= ? AND key < ?")
    try statement.bind(path.utf8Span.span, at: 1)
    try statement.bind("\(path).".utf8Span.span, at: 2)
    // The slash follows the dot in ASCII.
    try statement.bind("\(path)/".utf8Span.span, at: 3)
    try statement.run()
  }
}
