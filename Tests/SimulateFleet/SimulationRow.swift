import CarabinerFleet
import FleetSimulation

/// A line of the table: the worst figures of some simulations that differ in their seeds only.
struct SimulationRow: Encodable {
  let plugin: String
  let hasFaults: Bool
  let nodes: Int
  let endings: [String: Int]
  /// Seconds until the candidate was stable or halted; nil if neither happened.
  let decided: Double?
  /// Seconds until the last node followed.
  let followed: Double?
  let exposed: Int
  let exposedAtOnce: Int
  let processesEnded: Int
  let transactionsLost: Int
  let peakReads: Int
  let peakKeysRead: Int
  let peakTransactions: Int
  let peakEvents: Int
  let totalKeysRead: Int
  /// Broken invariants and wrong ends, for a person.
  let faults: [String]

  init(_ results: [SimulationResult]) {
    let settings = results[0].settings
    plugin = settings.plugin.rawValue
    hasFaults = settings.faults != .none
    nodes = settings.nodes
    endings = Dictionary(results.map { ($0.ending.rawValue, 1) }, uniquingKeysWith: +)
    decided = results.compactMap(\.decided).max()
    followed = results.compactMap(\.followed).max()
    exposed = results.map(\.exposed).max() ?? 0
    exposedAtOnce = results.map(\.exposedAtOnce).max() ?? 0
    processesEnded = results.map(\.processesEnded).max() ?? 0
    transactionsLost = results.map(\.transactionsLost).max() ?? 0
    peakReads = results.map(\.load.peak.reads).max() ?? 0
    peakKeysRead = results.map(\.load.peak.keysRead).max() ?? 0
    peakTransactions = results.map(\.load.peak.transactions).max() ?? 0
    peakEvents = results.map(\.load.peak.events).max() ?? 0
    totalKeysRead = results.map(\.load.total.keysRead).max() ?? 0
    faults = results.flatMap { result in
      let name = "\(result.settings.nodes) nodes, \(result.settings.plugin.rawValue), seed \(result.settings.seed)"
      var found = result.violations.map { "\(name): \($0)" }
      if let expected = result.settings.expectedEnding, result.ending != expected, found.isEmpty {
        found.append("\(name): the roll-out is \(result.ending.rawValue), not \(expected.rawValue)")
      }
      return found
    }
  }
}

extension SimulationSettings {
  /// How a roll-out has to end; nil if the rule does not say.
  fileprivate var expectedEnding: SimulationResult.Ending? {
    switch plugin {
    // A machine that ends during a trial counts as a failure of the plugin, and halts the roll-out.
    case .good: faults.crashesPerHour == 0 && faults.partitionsPerHour == 0 ? .stable : nil
    case .refused, .crashes: .halted
    case .crashesLater: nil
    }
  }
}
