internal import Carabiner

/// Removes the values that were received longest ago, so that a database stays below a size.
///
/// There is no index of the times, because each write would pay for it. The values are counted in slices of time instead.
struct FileTrimmer {
  /// The number of slices from the oldest to the newest value.
  private static let slices: Int64 = 1024
  /// The latest possible time of receipt, in milliseconds since 1970.
  private static let latest: Int64 = 1 << 60
  /// How often values are removed until the pages that are in use are few enough. Pages that lose a value may stay in use.
  private static let maximumRounds = 8
  /// The bytes of a row, without the room that its page needs for it.
  private static let size = "length(CAST(key AS BLOB)) + length(CAST(field AS BLOB)) + length(CAST(value AS BLOB))"

  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The bytes of the pages in use.
  func usedBytes() throws -> Int {
    let pages = try connection.number("PRAGMA page_count") - connection.number("PRAGMA freelist_count")
    return Int(pages * (try connection.number("PRAGMA page_size")))
  }

  /// Removes values until at most `kept` bytes are in use.
  ///
  /// - Returns: The number of removed values.
  func trim(keeping kept: Int) throws -> Int {
    var removed = 0
    for _ in 0..<Self.maximumRounds {
      let used = try usedBytes()
      guard used > kept else { break }
      let values = try removeOldest(share: Double(used - kept) / Double(used))
      guard values > 0 else { break }
      removed += values
    }
    return removed
  }

  /// Removes a share of the bytes of all values.
  private func removeOldest(share: Double) throws -> Int {
    // A clock may have been wrong, or another program has written the times.
    let impossible = try removeImpossible()
    guard impossible == 0, let (oldest, newest) = try times() else { return impossible }
    let width = (newest - oldest) / Self.slices + 1
    let sizes = try sizes(from: oldest, width: width)
    var excess = max(1, Int(Double(sizes.reduce(0) { $0 + $1.bytes }) * share))
    var first = oldest
    for slice in sizes {
      guard slice.bytes <= excess else { break }
      excess -= slice.bytes
      first = oldest + (slice.number + 1) * width
    }
    let removed = try remove(before: first)
    // A part of the next slice, in the order of the keys. It is the only slice if all values were received together.
    guard excess > 0, let last = try lastKey(of: excess, before: first + width) else { return removed }
    return removed + (try remove(before: first + width, upTo: last))
  }

  private func removeImpossible() throws -> Int {
    let statement = try connection.statement("DELETE FROM fields WHERE received < 0 OR received > ?")
    try statement.bind(Self.latest, at: 1)
    try statement.run()
    return try changes()
  }

  /// The times of the oldest and the newest value; nil if there is none.
  private func times() throws -> (oldest: Int64, newest: Int64)? {
    let statement = try connection.statement("SELECT min(received), max(received) FROM fields")
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return (statement.int(0), statement.int(1))
  }

  private func sizes(from oldest: Int64, width: Int64) throws -> [(number: Int64, bytes: Int)] {
    let statement = try connection.statement(
      "SELECT (received - ?1) / ?2, sum(\(Self.size)) FROM fields GROUP BY 1 ORDER BY 1")
    try statement.bind(oldest, at: 1)
    try statement.bind(width, at: 2)
    defer { statement.reset() }
    var sizes: [(number: Int64, bytes: Int)] = []
    while try statement.step() { sizes.append((statement.int(0), Int(statement.int(1)))) }
    return sizes
  }

  /// The key at which the values received before a time have this many bytes, in the order of the keys.
  private func lastKey(of bytes: Int, before time: Int64) throws -> [UInt8]? {
    let statement = try connection.statement("SELECT key, \(Self.size) FROM fields WHERE received < ? ORDER BY key")
    try statement.bind(time, at: 1)
    defer { statement.reset() }
    var rest = bytes
    while try statement.step() {
      rest -= Int(statement.int(1))
      if rest <= 0 { return statement.bytes(0) }
    }
    return nil
  }

  private func remove(before time: Int64) throws -> Int {
    let statement = try connection.statement("DELETE FROM fields WHERE received < ?")
    try statement.bind(time, at: 1)
    try statement.run()
    return try changes()
  }

  private func remove(before time: Int64, upTo key: [UInt8]) throws -> Int {
    let statement = try connection.statement("DELETE FROM fields WHERE received < ? AND key <= ?")
    try statement.bind(time, at: 1)
    try statement.bind(key.span, at: 2)
    try statement.run()
    return try changes()
  }

  private func changes() throws -> Int { Int(try connection.number("SELECT changes()")) }
}
