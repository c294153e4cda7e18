internal import Carabiner

/// Builds records from the rows of their fields.
struct RecordReader {
  private let rows: SQLiteStatement
  /// The field names of the last record. The next record mostly has the same ones, and then shares the list.
  private var names: [String] = []
  private var places: [FieldTable.Place] = []
  private var lastSize = 0

  init(_ connection: SQLiteConnection) throws {
    rows = try connection.statement("SELECT field, value, received FROM fields WHERE key = ?")
  }

  /// The record of a key; nil if it has no fields.
  mutating func record(_ key: String) throws -> Record? {
    try rows.bind(key.utf8Span.span, at: 1)
    defer { rows.reset() }
    places.removeAll(keepingCapacity: true)
    var values: [UInt8] = []
    values.reserveCapacity(lastSize)
    while try rows.step() {
      takeName(at: places.count)
      let start = values.count
      rows.append(1, to: &values)
      places.append((start..<values.count, rows.int(2)))
    }
    guard !places.isEmpty else { return nil }
    if places.count < names.count { names.removeSubrange(places.count...) }
    lastSize = values.count
    return Record(key: key, table: FieldTable(names: names, places: places, buffer: values))
  }

  /// The record of a key with some fields only; nil if it has none of them.
  func record(_ key: String, fields: [String], _ connection: SQLiteConnection) throws -> Record? {
    let row = try connection.statement("SELECT value, received FROM fields WHERE key = ? AND field = ?")
    var (found, places, values): ([String], [FieldTable.Place], [UInt8]) = ([], [], [])
    try row.bind(key.utf8Span.span, at: 1)
    for field in fields where !found.contains(field) {
      try row.bind(field.utf8Span.span, at: 2)
      defer { row.reset() }
      guard try row.step() else { continue }
      let start = values.count
      row.append(0, to: &values)
      found.append(field)
      places.append((start..<values.count, row.int(1)))
    }
    return found.isEmpty ? nil : Record(key: key, table: FieldTable(names: found, places: places, buffer: values))
  }

  private mutating func takeName(at place: Int) {
    if place < names.count {
      if rows.has(names[place].utf8Span.span, in: 0) { return }
      names.removeSubrange(place...)
    }
    names.append(rows.string(0))
  }
}
