internal import Synchronization

/// The records that each operation read last, so that its next read can ask for all of them in the first round.
final class ReadMemory: Sendable {
  /// A record with the fields that were needed.
  struct Item: Sendable {
    let key: String
    let fields: [String]
  }

  private struct State {
    var recent: [Int: [Item]] = [:]
    /// The size of the recent lists.
    var recentBytes = 0
    /// The operations before. They are dropped when the recent ones are too many.
    var older: [Int: [Item]] = [:]
  }

  /// The most operations, with their variables.
  private static let maximumOperations = 4096
  /// A longer list is not kept.
  private static let maximumItems = 2000
  /// The size of all lists.
  static let maximumBytes = 16 << 20

  private let state = Mutex(State())

  /// The records of an operation; empty if they are not known.
  ///
  /// - Parameter operation: A hash of the document and the variables. If two have the same one, only a round trip more is needed.
  func items(of operation: Int) -> [Item] { state.withLock { $0.recent[operation] ?? $0.older[operation] ?? [] } }

  /// The size of the lists.
  var bytes: Int {
    state.withLock { state in state.recentBytes + state.older.values.reduce(0) { $0 + Self.bytes(of: $1) } }
  }

  func set(_ items: [Item], of operation: Int) {
    let bytes = Self.bytes(of: items)
    state.withLock { state in
      if let before = state.recent.removeValue(forKey: operation) { state.recentBytes -= Self.bytes(of: before) }
      state.older[operation] = nil
      guard items.count <= Self.maximumItems, bytes <= Self.maximumBytes / 8 else { return }
      state.recent[operation] = items
      state.recentBytes += bytes
      guard state.recent.count >= Self.maximumOperations / 2 || state.recentBytes >= Self.maximumBytes / 2 else { return }
      (state.older, state.recent, state.recentBytes) = (state.recent, [:], 0)
    }
  }

  private static func bytes(of items: [Item]) -> Int {
    items.reduce(0) { sum, item in
      sum + item.key.utf8.count + WriteQueue.overhead
        + item.fields.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
    }
  }
}
