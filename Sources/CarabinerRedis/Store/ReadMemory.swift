internal import Synchronization

/// The records that each operation read last, so that its next read can ask for all of them in the first round.
final class ReadMemory: Sendable {
  /// A record with the fields that were needed.
  struct Item: Sendable {
    let key: String
    let fields: [String]
  }

  /// The records of an operation.
  struct List: Sendable {
    private(set) var items: [Item] = []
    private(set) var bytes = 0

    /// Adds a record, unless the list is too long already to be kept.
    mutating func add(_ item: Item) {
      guard isKept else { return }
      items.append(item)
      bytes += item.fields.reduce(item.key.utf8.count + WriteQueue.overhead) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
    }

    var isKept: Bool { items.count <= ReadMemory.maximumItems && bytes <= ReadMemory.maximumBytes / 8 }
  }

  private struct State {
    var recent: [Int: List] = [:]
    /// The size of the recent lists.
    var recentBytes = 0
    /// The operations before. They are dropped when the recent ones are too many.
    var older: [Int: List] = [:]
  }

  /// The most operations, with their variables.
  private static let maximumOperations = 4096
  /// A longer list is not kept.
  static let maximumItems = 2000
  /// The size of all lists.
  static let maximumBytes = 16 << 20

  private let state = Mutex(State())

  /// The records of an operation; empty if they are not known.
  ///
  /// - Parameter operation: A hash of the document and the variables. A collision costs only another round trip.
  func items(of operation: Int) -> [Item] { state.withLock { ($0.recent[operation] ?? $0.older[operation])?.items ?? [] } }

  /// The size of the lists.
  var bytes: Int { state.withLock { state in state.recentBytes + state.older.values.reduce(0) { $0 + $1.bytes } } }

  func set(_ list: List, of operation: Int) {
    state.withLock { state in
      state.recentBytes -= state.recent.removeValue(forKey: operation)?.bytes ?? 0
      state.older[operation] = nil
      guard list.isKept else { return }
      state.recent[operation] = list
      state.recentBytes += list.bytes
      guard state.recent.count >= Self.maximumOperations / 2 || state.recentBytes >= Self.maximumBytes / 2 else { return }
      (state.older, state.recent, state.recentBytes) = (state.recent, [:], 0)
    }
  }
}
