package import Synchronization

/// The counts of one entry.
package final class PluginCounters: Sendable {
  private struct State {
    var groups: [ObjectIdentifier: CallTally] = [:]
    /// The calls of groups that have ended.
    var earlier = 0
  }

  /// How often the plugin broke the contract.
  package let faults = Atomic<Int>(0)
  /// How often the plugin failed a call.
  package let failures = Atomic<Int>(0)
  /// How often the plugin had a request started again.
  package let retries = Atomic<Int>(0)
  private let state = Mutex(State())

  /// How many calls through groups with the entry have begun, and how many are under way.
  package var calls: (begun: Int, inFlight: Int) {
    state.withLock { state in
      // The ends are read before the beginnings. Otherwise, a call between both reads would make the difference too small.
      let ended = state.groups.values.reduce(0) { $0 + $1.ended.load(ordering: .acquiring) }
      let begun = state.groups.values.reduce(0) { $0 + $1.begun.load(ordering: .relaxed) }
      return (state.earlier + begun, begun - ended)
    }
  }

  /// Counts the calls through a group from now on.
  func join(_ tally: CallTally) { state.withLock { $0.groups[ObjectIdentifier(tally)] = tally } }

  /// The group has ended, and so have all its calls.
  func leave(_ tally: CallTally) {
    state.withLock { state in
      guard state.groups.removeValue(forKey: ObjectIdentifier(tally)) != nil else { return }
      state.earlier += tally.begun.load(ordering: .relaxed)
    }
  }
}

/// The calls through one group, counted once for all its entries.
final class CallTally: Sendable {
  let begun = Atomic<Int>(0)
  let ended = Atomic<Int>(0)
}
