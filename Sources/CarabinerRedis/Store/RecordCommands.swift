internal import Carabiner
internal import CarabinerRESP

/// The commands that write records: `HSET`, `PEXPIRE` and `HLEN` for each, and `SET` for each field of a root.
struct RecordCommands {
  private let layout: StoreLayout
  private let lives: StoreLives
  /// The time of Redis minus the local time, in milliseconds.
  private let offset: Int64
  private(set) var batch = CommandBatch()
  /// The positions of the answers of `HLEN`, with the keys of their records.
  private(set) var lengths: [(position: Int, key: String)] = []

  init(_ layout: StoreLayout, _ lives: StoreLives, offset: Int64) {
    (self.layout, self.lives, self.offset) = (layout, lives, offset)
  }

  /// Writes the fields of a record.
  mutating func write(_ record: Record) {
    guard record.table.count > 0 else { return }
    if StoreLayout.isRoot(record.key) { return writeRoot(record) }
    let (key, table) = (layout.recordKey(record.key), record.table)
    let isLong = !StoreLayout.isShort(record.key)
    batch.begin("HSET", arguments: 1 + table.count * 2 + (isLong ? 2 : 0))
    batch.add(key)
    if isLong {
      batch.add(StoreLayout.longKeyField)
      batch.add(record.key)
    }
    for (position, name) in table.names.enumerated() {
      batch.add(StoreLayout.short(name))
      batch.add(StoredValue.text(table.bytes(at: position), received: table.received(at: position) + offset))
    }
    batch.begin("PEXPIRE", arguments: 2)
    batch.add(key)
    batch.add(lives.life(of: record))
    batch.begin("HLEN", arguments: 1)
    batch.add(key)
    lengths.append((batch.count - 1, record.key))
  }

  private mutating func writeRoot(_ record: Record) {
    let table = record.table
    for (position, name) in table.names.enumerated() {
      batch.begin("SET", arguments: 4)
      batch.add(layout.rootFieldKey(record.key, name))
      batch.add(StoredValue.text(table.bytes(at: position), received: table.received(at: position) + offset))
      batch.add("PX")
      batch.add(lives.life(ofField: name, root: record.key))
    }
  }

  /// Removes the record of an object.
  mutating func remove(_ key: String) {
    batch.begin("UNLINK", arguments: 1)
    batch.add(layout.recordKey(key))
  }

  /// Removes keys of Redis.
  mutating func removeKeys(_ keys: ArraySlice<String>) {
    batch.begin("UNLINK", arguments: keys.count)
    for key in keys { batch.add(key) }
  }

  /// Notifies the other nodes of a change.
  mutating func publish(_ message: Invalidation) {
    batch.begin("PUBLISH", arguments: 2)
    batch.add(layout.channel)
    batch.add(message.bytes)
  }
}
