/// Records by key, in a list from the least to the most recently used.
struct RecordTable {
  private struct Entry {
    var record: Record
    var cost: Int
    var older: Int
    var newer: Int
  }

  private static var none: Int { -1 }

  private let maximumRecords: Int?
  private let maximumBytes: Int?
  private let maximumFields: Int
  private var index = KeyIndex()
  private var entries: [Entry] = []
  private var free: [Int] = []
  private var oldest = -1
  private var newest = -1
  /// The size of the records in bytes, approximately.
  private(set) var cost = 0

  init(maximumRecords: Int?, maximumBytes: Int?, maximumFields: Int) {
    self.maximumRecords = maximumRecords
    self.maximumBytes = maximumBytes
    self.maximumFields = maximumFields
  }

  /// The number of records.
  var count: Int { index.count }

  /// The keys of all records, the most recently used first.
  var keys: [String] {
    var (keys, place): ([String], Int) = ([], newest)
    keys.reserveCapacity(count)
    while place != Self.none {
      keys.append(entries[place].record.key)
      place = entries[place].older
    }
    return keys
  }

  private func place(of key: String) -> Int? {
    let bytes = key.utf8Span.span
    return place(of: bytes, hash: index.hash(of: bytes))
  }

  private func place(of key: Span<UInt8>, hash: UInt32) -> Int? {
    var probe = index.probe(hash)
    while let place = index.next(&probe) {
      if entries[place].record.key.hasBytes(key) { return place }
    }
    return nil
  }

  mutating func record(_ key: String) -> Record? {
    guard let place = place(of: key) else { return nil }
    touch(place)
    return entries[place].record
  }

  /// Merges a record and returns the names of the fields that changed.
  mutating func merge(_ record: Record) -> [String] {
    guard let place = place(of: record.key) else {
      insert(record)
      return record.names
    }
    touch(place)
    let changed = entries[place].record.table.merge(record.table)
    if !changed.isEmpty { changedFields(of: place) }
    return changed
  }

  /// Merges a record of a response and returns the names of the fields that changed.
  mutating func merge(_ batch: RecordBatch, _ entry: RecordBatch.Entry) -> [String] {
    let keys = batch.keys
    let key = keys.span.extracting(entry.key)
    guard let place = place(of: key, hash: index.hash(of: key)) else {
      insert(Record(key: batch.key(of: entry), table: FieldTable(batch, entry)))
      return batch.names[entry.names].list
    }
    touch(place)
    let changed = entries[place].record.table.merge(batch, entry)
    if !changed.isEmpty { changedFields(of: place) }
    return changed
  }

  mutating func remove(_ key: String) {
    let bytes = key.utf8Span.span
    let hash = index.hash(of: bytes)
    guard let place = place(of: bytes, hash: hash) else { return }
    index.remove(place, hash: hash)
    unlink(place)
    cost -= entries[place].cost
    entries[place].record = Record(key: "", table: FieldTable())
    free.append(place)
  }

  mutating func removeAll() {
    self = RecordTable(maximumRecords: maximumRecords, maximumBytes: maximumBytes, maximumFields: maximumFields)
  }

  /// Evicts the least recently used records until the limits are met.
  mutating func evict() {
    while oldest != Self.none, count > maximumRecords ?? .max || cost > maximumBytes ?? .max {
      remove(entries[oldest].record.key)
    }
  }

  private mutating func changedFields(of place: Int) {
    if entries[place].record.table.count > maximumFields { limitFields(of: place) }
    setCost(of: place)
  }

  /// Removes the oldest fields of a record and the records below them. It removes more than necessary, so that this does not
  /// happen at each write.
  private mutating func limitFields(of place: Int) {
    let key = entries[place].record.key
    for (name, value) in entries[place].record.table.removeOldest(keeping: maximumFields - maximumFields / 8) {
      removeParts(value, under: "\(key).\(name)")
    }
  }

  /// Removes the records below a value that are stored under its path, as objects without a key are.
  private mutating func removeParts(_ value: ArraySlice<UInt8>, under path: String) {
    var left = [(value, path)]
    while let (value, path) = left.popLast() {
      for key in Reference.keys(in: value.span) where key == path || key.hasPrefix(path + ".") {
        guard let place = place(of: key) else { continue }
        let table = entries[place].record.table
        for position in table.names.indices { left.append((table.bytes(at: position), "\(key).\(table.names[position])")) }
        remove(key)
      }
    }
  }

  // MARK: The list

  private mutating func insert(_ record: Record) {
    let entry = Entry(record: record, cost: 0, older: newest, newer: Self.none)
    let place: Int
    if let reused = free.popLast() {
      place = reused
      entries[place] = entry
    } else {
      place = entries.count
      entries.append(entry)
    }
    index.insert(place, hash: index.hash(of: record.key.utf8Span.span))
    if newest == Self.none { oldest = place } else { entries[newest].newer = place }
    newest = place
    changedFields(of: place)
  }

  private mutating func setCost(of place: Int) {
    let new = entries[place].record.table.cost + 160 + 2 * entries[place].record.key.utf8.count
    cost += new - entries[place].cost
    entries[place].cost = new
  }

  private mutating func touch(_ place: Int) {
    guard place != newest else { return }
    unlink(place)
    entries[place].older = newest
    entries[place].newer = Self.none
    if newest == Self.none { oldest = place } else { entries[newest].newer = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (entries[place].older, entries[place].newer)
    if older == Self.none { oldest = newer } else { entries[older].newer = newer }
    if newer == Self.none { newest = older } else { entries[newer].older = older }
  }
}
