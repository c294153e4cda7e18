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
    /// The operations before. They are dropped when the recent ones are too many.
    var older: [Int: [Item]] = [:]
  }

  /// The most operations, with their variables.
  private static let maximumOperations = 4096
  /// A longer list is not kept.
  private static let maximumItems = 2000

  private let state = Mutex(State())

  /// The records of an operation; empty if they are not known.
  ///
  /// - Parameter operation: A hash of the document and the variables. If two have the same one, only a round trip more is needed.
  func items(of operation: Int) -> [Item] { state.withLock { $0.recent[operation] ?? $0.older[operation] ?? [] } }

  func set(_ items: [Item], of operation: Int) {
    state.withLock { state in
      guard items.count <= Self.maximumItems else {
        state.recent[operation] = nil
        state.older[operation] = nil
        return
      }
      state.recent[operation] = items
      if state.recent.count >= Self.maximumOperations / 2 { (state.older, state.recent) = (state.recent, [:]) }
    }
  }
}
