internal import Carabiner
internal import Synchronization

/// The writes that wait for Redis, in their order. Their callers do not wait.
final class WriteQueue: Sendable {
  /// The records of one response.
  struct Write: Sendable {
    let records: [Record]
    /// The changes that other nodes are notified of.
    let changed: [Invalidation.Entry]
    let bytes: Int
    let deadline: ContinuousClock.Instant
  }

  private enum Entry {
    case write(Write)
    case barrier(CheckedContinuation<Void, Never>)
    /// It was taken, so its memory is free.
    case taken
  }

  private struct State {
    var entries: [Entry] = []
    /// The index of the first entry that was not taken.
    var first = 0
    var bytes = 0
    var isDraining = false
  }

  /// The most records of one transaction of several writes, and their size.
  static let maximumRecords = 1000
  private static let maximumJoinedBytes = 1 << 20
  /// The memory of a record and of a field beside their texts in bytes, approximately.
  static let overhead = 64

  private let maximumBytes: Int
  private let state = Mutex(State())
  private let send: @Sendable ([Write]) async -> Void

  /// Creates a queue.
  ///
  /// - Parameter send: Writes the records of one or more writes. It is called again when it is done.
  init(maximumBytes: Int, send: @escaping @Sendable ([Write]) async -> Void) {
    (self.maximumBytes, self.send) = (maximumBytes, send)
  }

  /// The size of all writes that wait.
  var bytes: Int { state.withLock(\.bytes) }

  static func bytes(of records: [Record]) -> Int {
    records.reduce(0) { sum, record in
      let names = record.names.reduce(0) { $0 + $1.utf8.count + overhead }
      let values = record.table.names.indices.reduce(0) { $0 + record.table.bytes(at: $1).count }
      return sum + record.key.utf8.count + overhead + names + values
    }
  }

  /// Adds a write. Returns false if there is no room for it.
  func add(_ write: Write) -> Bool {
    let begins: Bool? = state.withLock { state in
      guard state.bytes + write.bytes <= maximumBytes else { return nil }
      state.bytes += write.bytes
      return append(.write(write), to: &state)
    }
    guard let begins else { return false }
    if begins { Task { await drain() } }
    return true
  }

  /// Waits until all earlier writes were sent or dropped.
  func drained() async {
    await withCheckedContinuation { continuation in
      let begins = state.withLock { append(.barrier(continuation), to: &$0) }
      if begins { Task { await drain() } }
    }
  }

  /// Returns whether draining must begin.
  private func append(_ entry: Entry, to state: inout State) -> Bool {
    state.entries.append(entry)
    guard !state.isDraining else { return false }
    state.isDraining = true
    return true
  }

  private func drain() async {
    while let (writes, barrier) = next() {
      barrier?.resume()
      guard !writes.isEmpty else { continue }
      await send(writes)
      state.withLock { $0.bytes -= writes.reduce(0) { $0 + $1.bytes } }
    }
  }

  /// The next writes, as many as fit in a transaction, or a barrier; nil if there are none, and then draining has ended.
  private func next() -> (writes: [Write], barrier: CheckedContinuation<Void, Never>?)? {
    state.withLock { state in
      var (writes, records, bytes): ([Write], Int, Int) = ([], 0, 0)
      while state.first < state.entries.count {
        guard case .write(let write) = state.entries[state.first] else { break }
        (records, bytes) = (records + write.records.count, bytes + write.bytes)
        guard writes.isEmpty || records <= Self.maximumRecords && bytes <= Self.maximumJoinedBytes else { break }
        writes.append(write)
        state.entries[state.first] = .taken
        state.first += 1
      }
      if state.first > 64, state.first > state.entries.count / 2 {
        state.entries.removeFirst(state.first)
        state.first = 0
      }
      if !writes.isEmpty { return (writes, nil) }
      guard state.first < state.entries.count, case .barrier(let continuation) = state.entries[state.first] else {
        (state.entries, state.first, state.isDraining) = ([], 0, false)
        return nil
      }
      state.entries[state.first] = .taken
      state.first += 1
      return ([], continuation)
    }
  }
}
