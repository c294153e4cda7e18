internal import Carabiner

/// Puts records together from the rows of their fields.
struct RecordReader {
  private let rows: SQLiteStatement
  /// The names of the last record's fields: the next record mostly has the same, and then both share one list.
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

  private mutating func takeName(at place: Int) {
    if place < names.count {
      if rows.has(names[place].utf8Span.span, in: 0) { return }
      names.removeSubrange(place...)
    }
    names.append(rows.string(0))
  }
}
