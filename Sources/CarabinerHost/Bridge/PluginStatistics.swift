internal import Synchronization

/// What is counted of one entry.
final class PluginStatistics: Sendable {
  private struct State {
    var rows: [ObjectIdentifier: CallTally] = [:]
    /// The calls of rows that are gone.
    var earlier = 0
  }

  /// How often the plugin broke the contract.
  let faults = Atomic<Int>(0)
  /// How often the plugin failed a call.
  let failures = Atomic<Int>(0)
  /// How often the plugin had a request started again.
  let retries = Atomic<Int>(0)
  private let state = Mutex(State())

  /// How many ways through a row the entry stands in have begun, and how many are under way.
  var calls: (begun: Int, inFlight: Int) {
    state.withLock { state in
      // Ends before beginnings: what ends in between was under way.
      let ended = state.rows.values.reduce(0) { $0 + $1.ended.load(ordering: .acquiring) }
      let begun = state.rows.values.reduce(0) { $0 + $1.begun.load(ordering: .relaxed) }
      return (state.earlier + begun, begun - ended)
    }
  }

  /// Counts what passes a row from now on.
  func join(_ tally: CallTally) { state.withLock { $0.rows[ObjectIdentifier(tally)] = tally } }

  /// The row is gone, and so is every call in it.
  func leave(_ tally: CallTally) {
    state.withLock { state in
      guard state.rows.removeValue(forKey: ObjectIdentifier(tally)) != nil else { return }
      state.earlier += tally.begun.load(ordering: .relaxed)
    }
  }
}

/// The calls that pass one row, counted once for all its entries.
final class CallTally: Sendable {
  let begun = Atomic<Int>(0)
  let ended = Atomic<Int>(0)
}
