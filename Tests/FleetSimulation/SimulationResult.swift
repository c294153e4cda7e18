internal import CarabinerFleet

/// The outcome of a simulation. Times are seconds of virtual time since the candidate was published.
package struct SimulationResult: Sendable, Hashable {
  /// How it ended.
  package enum Ending: String, Sendable {
    /// Each node that is alive and can be reached serves the candidate, which is the stable manifest.
    case stable
    /// The roll-out halted, and each such node serves the stable manifest again.
    case halted
    /// Neither happened within the limit.
    case unfinished
  }

  package let settings: SimulationSettings
  package internal(set) var ending = Ending.unfinished
  /// When the candidate became the stable manifest, or the roll-out halted.
  package internal(set) var decided: Double?
  /// When the last node followed.
  package internal(set) var followed: Double?
  /// The number of nodes that ever ran the candidate's plugin.
  package internal(set) var exposed = 0
  /// The most nodes that ran it at once.
  package internal(set) var exposedAtOnce = 0
  /// How often a process ended.
  package internal(set) var processesEnded = 0
  /// Transactions that the store refused because another node was first.
  package internal(set) var transactionsLost = 0
  package internal(set) var load = StoreLoad()
  package internal(set) var events = 0
  /// Broken invariants. Empty unless the rule is wrong.
  package internal(set) var violations: [String] = []
}
