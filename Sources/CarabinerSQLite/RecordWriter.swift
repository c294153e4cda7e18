internal import Carabiner

/// Merges records into the rows of their fields. It writes changed values, and the time of receipt of the others.
struct RecordWriter {
  /// The state of the row of a field.
  private enum Row {
    case isMissing
    /// The row has another value.
    case differs
    /// The row has the same value with another time of receipt.
    case isOlder
    case isSame
  }

  /// The bytes of a row besides its texts, approximately.
  private static let rowBytes = 16

  private let find: SQLiteStatement
  private let write: SQLiteStatement
  private let touch: SQLiteStatement
  private let findField: SQLiteStatement
  /// The number of new fields that were written to root records.
  private(set) var newRootFields = 0
  /// The number of bytes in the rows that were written.
  private(set) var writtenBytes = 0
  /// The states of the rows of the current record's fields, by the position of the field.
  private var rows: [Row] = []
  /// The field names of the last record, and the positions of its rows' fields among them, in the order of the rows. The next
  /// record mostly has the same.
  private var names: [String] = []
  private var positions: [Int] = []

  init(_ connection: SQLiteConnection) throws {
    find = try connection.statement("SELECT field, value, received FROM fields WHERE key = ?")
    findField = try connection.statement("SELECT value, received FROM fields WHERE key = ? AND field = ?")
    write = try connection.statement(
      """
      INSERT INTO fields (key, field, value, received) VALUES (?, ?, ?, ?)
      ON CONFLICT (key, field) DO UPDATE SET value = excluded.value, received = excluded.received
      """)
    touch = try connection.statement("UPDATE fields SET received = ? WHERE key = ?")
  }

  /// Writes the fields of a record and returns the names of those that changed.
  mutating func merge(_ record: Record) throws -> [String] {
    let table = record.table
    guard table.count > 0 else { return [] }
    let isRoot = RootRecord(rawValue: record.key) != nil
    var isWhole = isRoot ? try compareFields(record) : try compare(record)
    // All rows belong to fields of the record, so one statement sets the time of receipt of all.
    let received = table.received(at: 0)
    isWhole = isWhole && rows.contains(.isOlder) && table.names.indices.allSatisfy { table.received(at: $0) == received }
    if isWhole {
      try touch.bind(received, at: 1)
      try touch.bind(record.key.utf8Span.span, at: 2)
      try touch.run()
    }
    var changed: [String] = []
    var isBound = false
    for position in table.names.indices {
      switch rows[position] {
      case .isSame: continue
      case .isOlder: if isWhole { continue }
      case .isMissing, .differs:
        if isWritten(position, of: table) { continue }
        if isRoot, rows[position] == .isMissing { newRootFields += 1 }
        changed.append(table.names[position])
      }
      if !isBound { try write.bind(record.key.utf8Span.span, at: 1) }
      isBound = true
      try write.bind(table.names[position].utf8Span.span, at: 2)
      try write.bind(table.bytes(at: position).span, at: 3)
      try write.bind(table.received(at: position), at: 4)
      try write.run()
      writtenBytes += record.key.utf8.count + table.names[position].utf8.count + table.bytes(at: position).count + Self.rowBytes
    }
    return changed
  }

  /// Whether an earlier position of the record has the same field with the same value, which happens if a query selects a field
  /// under two names.
  private func isWritten(_ position: Int, of table: FieldTable) -> Bool {
    guard let earlier = table.names[..<position].lastIndex(of: table.names[position]) else { return false }
    return table.bytes(at: earlier) == table.bytes(at: position)
  }

  /// Reads the existing rows of a record. Returns whether all of them belong to fields that the record has now.
  private mutating func compare(_ record: Record) throws -> Bool {
    let table = record.table
    rows.removeAll(keepingCapacity: true)
    for _ in 0..<table.count { rows.append(.isMissing) }
    if table.names != names {
      names = table.names
      positions.removeAll(keepingCapacity: true)
    }
    var isWhole = true
    var number = 0
    try find.bind(record.key.utf8Span.span, at: 1)
    defer { find.reset() }
    while try find.step() {
      guard let position = position(ofRow: number) else {
        isWhole = false
        continue
      }
      number += 1
      rows[position] = row(find, 1, table, position)
    }
    return isWhole
  }

  /// Does the same for a root. Only the rows of the record's fields are read, because a root may have many others.
  private mutating func compareFields(_ record: Record) throws -> Bool {
    let table = record.table
    rows.removeAll(keepingCapacity: true)
    try findField.bind(record.key.utf8Span.span, at: 1)
    for position in 0..<table.count {
      try findField.bind(table.names[position].utf8Span.span, at: 2)
      defer { findField.reset() }
      rows.append(try findField.step() ? row(findField, 0, table, position) : .isMissing)
    }
    return false
  }

  /// The state of a field's row. The value is in a column, and the time of receipt in the next one.
  private func row(_ statement: SQLiteStatement, _ column: Int32, _ table: FieldTable, _ position: Int) -> Row {
    guard statement.has(table.bytes(at: position).span, in: column) else { return .differs }
    return statement.int(column + 1) == table.received(at: position) ? .isSame : .isOlder
  }

  /// The position of the current row's field among the names. `number` counts the rows with a known name.
  private mutating func position(ofRow number: Int) -> Int? {
    if number < positions.count, find.has(names[positions[number]].utf8Span.span, in: 0) { return positions[number] }
    guard let position = names.firstIndex(where: { find.has($0.utf8Span.span, in: 0) }) else { return nil }
    if number < positions.count { positions[number] = position } else { positions.append(position) }
    return position
  }
}
