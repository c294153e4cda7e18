internal import Carabiner
internal import Synchronization

/// Records in memory that are read before Redis, each for a short time.
///
/// It is used only while the node receives the messages about changes of other nodes. A reader takes a ticket before it asks Redis:
/// an answer is not stored if its record has changed since.
final class NearCache: Sendable {
  /// Fields of a record that are known to exist or not to exist.
  private struct Slot {
    var record: Record
    var absent: Set<String> = []
    /// When the oldest of the fields becomes too old.
    var end: ContinuousClock.Instant
    /// The size in memory, approximately.
    var bytes = 0

    /// Whether more fields may be added.
    var hasRoom: Bool { record.table.count + absent.count < RecordWriter.maximumFields }

    func measured() -> Slot {
      var slot = self
      slot.bytes = WriteQueue.bytes(of: [record]) + absent.reduce(0) { $0 + $1.utf8.count + WriteQueue.overhead }
      return slot
    }
  }

  private struct State {
    var isUsed = false
    /// The recently used records. If they are too many, they become the older ones, and the older ones before are dropped.
    var recent: [String: Slot] = [:]
    /// The size of the recently used records.
    var recentBytes = 0
    var older: [String: Slot] = [:]
    /// The number of changes so far.
    var changes: UInt64 = 0
    /// The last change of each record after ``forgotten``, by the hash of its key, because keys contain text of clients. If two
    /// keys have the same hash, an answer may be refused needlessly.
    var changed: [Int: UInt64] = [:]
    /// Changes up to this number are no longer known for each record.
    var forgotten: UInt64 = 0

    subscript(key: String) -> Slot? {
      mutating get {
        if let slot = recent[key] { return slot }
        guard let slot = older.removeValue(forKey: key) else { return nil }
        recent[key] = slot
        recentBytes += slot.bytes
        return slot
      }
    }

    /// Removes a record and returns it, so that changing it does not copy it.
    mutating func take(_ key: String) -> Slot? {
      let slot = recent.removeValue(forKey: key)
      recentBytes -= slot?.bytes ?? 0
      return older.removeValue(forKey: key) ?? slot
    }

    mutating func noteChange(of key: String) {
      changes += 1
      changed[key.hashValue] = changes
      guard changed.count > NearCache.maximumChanges else { return }
      (changed, forgotten) = ([:], changes)
    }

    mutating func removeAll() {
      (recent, recentBytes, older, changed) = ([:], 0, [:], [:])
      changes += 1
      forgotten = changes
    }
  }

  /// The answer to a question.
  struct Answer {
    /// The fields that are known to exist; nil if the record is not known.
    var record: Record?
    /// The fields that must be asked for.
    var missing: [String]
  }

  fileprivate static let maximumChanges = 10_000
  /// The largest product of removed fields and fields of a record.
  private static let maximumRemovals = RecordWriter.maximumFields * RecordWriter.maximumFields
  /// The size of all records in memory.
  static let defaultMaximumBytes = 64 << 20

  private let maximumRecords: Int
  private let maximumBytes: Int
  private let maximumAge: Duration
  private let state = Mutex(State())

  /// Creates an empty cache. With 0 records nothing is kept.
  init(maximumRecords: Int, maximumBytes: Int = NearCache.defaultMaximumBytes, maximumAge: Duration) {
    (self.maximumRecords, self.maximumBytes, self.maximumAge) = (maximumRecords, maximumBytes, maximumAge)
  }

  /// The number of records in memory, and their size.
  var size: (records: Int, bytes: Int) {
    state.withLock { state in
      (state.recent.count + state.older.count, state.recentBytes + state.older.values.reduce(0) { $0 + $1.bytes })
    }
  }

  /// Begins to use the cache. It is empty then.
  func use() {
    guard maximumRecords > 0 else { return }
    state.withLock { state in
      state.removeAll()
      state.isUsed = true
    }
  }

  /// Empties the cache, and does not use it until ``use()``.
  func stop() {
    state.withLock { state in
      state.removeAll()
      state.isUsed = false
    }
  }

  /// Empties the cache.
  func removeAll() { state.withLock { $0.removeAll() } }

  /// Whether the cache is used.
  var isUsed: Bool { state.withLock(\.isUsed) }

  // MARK: Reading

  /// The ticket of a question to Redis.
  var ticket: UInt64 { state.withLock(\.changes) }

  /// The known fields, in the order of the questions.
  func answers(
    to wanted: [(key: String, fields: [String])], now: ContinuousClock.Instant = .now
  ) -> [Answer] {
    state.withLock { state in
      wanted.map { wanted in
        guard state.isUsed, let slot = state[wanted.key], slot.end > now else { return Answer(missing: wanted.fields) }
        let missing = wanted.fields.filter { slot.record.received($0) == nil && !slot.absent.contains($0) }
        return Answer(record: slot.record, missing: missing)
      }
    }
  }

  /// Keeps an answer of Redis, unless its record has changed since the ticket.
  func put(_ table: FieldTable, absent: [String], of key: String, ticket: UInt64, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      guard state.isUsed, ticket >= state.forgotten, state.changed[key.hashValue].map({ $0 <= ticket }) ?? true else { return }
      if var slot = state.take(key), slot.end > now, slot.hasRoom {
        for (position, name) in table.names.enumerated() {
          slot.record.table.set(name, to: table.bytes(at: position), received: table.received(at: position))
        }
        slot.absent.formUnion(absent)
        insert(slot, into: &state)
      } else {
        insert(Slot(record: Record(key: key, table: table), absent: Set(absent), end: now + maximumAge), into: &state)
      }
    }
  }

  /// Keeps a record that is not in memory. One that would take much of the memory for itself is left out.
  private func insert(_ slot: Slot, into state: inout State) {
    let slot = slot.measured()
    guard slot.bytes <= maximumBytes / 8 else { return }
    state.recent[slot.record.key] = slot
    state.recentBytes += slot.bytes
    guard state.recent.count >= max(1, maximumRecords / 2) || state.recentBytes >= maximumBytes / 2 else { return }
    (state.older, state.recent, state.recentBytes) = (state.recent, [:], 0)
  }

  // MARK: Changing

  /// Takes over written records.
  ///
  /// - Returns: The fields that differ, or are not known.
  func write(_ records: [Record], now: ContinuousClock.Instant = .now) -> ChangedKeys {
    state.withLock { state in
      var changed = ChangedKeys()
      for record in records {
        guard state.isUsed else {
          changed.insert(record.names, of: record.key)
          continue
        }
        state.noteChange(of: record.key)
        guard var slot = state.take(record.key), slot.end > now, slot.hasRoom else {
          changed.insert(record.names, of: record.key)
          insert(Slot(record: record, end: now + maximumAge), into: &state)
          continue
        }
        let table = record.table
        let names = table.names.indices.compactMap { position in
          let name = table.names[position]
          slot.absent.remove(name)
          let isNew = slot.record.table.set(name, to: table.bytes(at: position), received: table.received(at: position))
          return isNew ? name : nil
        }
        changed.insert(names, of: record.key)
        insert(slot, into: &state)
      }
      return changed
    }
  }

  /// Notes that earlier answers about records may be older than a write, which has reached Redis now.
  ///
  /// A record that differs was read before the write arrived, so it is dropped. If a later write has changed it, that write notes itself.
  func noteWritten(_ records: some Sequence<Record>) {
    state.withLock { state in
      guard state.isUsed else { return }
      for record in records {
        state.noteChange(of: record.key)
        guard let slot = state.take(record.key) else { continue }
        let isSame = record.names.allSatisfy { slot.record[$0] == record[$0] && !slot.absent.contains($0) }
        if isSame { insert(slot, into: &state) }
      }
    }
  }

  /// Drops fields that another node has changed; the whole record if there are none.
  func drop(_ fields: [String], of key: String) {
    state.withLock { state in
      guard state.isUsed else { return }
      state.noteChange(of: key)
      // Each removal renews the index of the record's names, so a record with too many is dropped.
      guard var slot = state.take(key), !fields.isEmpty, fields.count * slot.record.table.count <= Self.maximumRemovals else {
        return
      }
      for field in fields {
        slot.record.remove(field)
        slot.absent.remove(field)
      }
      insert(slot, into: &state)
    }
  }
}
