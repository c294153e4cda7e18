/// How a candidate reaches the nodes of a fleet: the key `fleet` of its manifest (`fleet.13`).
package struct RolloutPlan: Sendable, Hashable {
  /// The most stages of a plan.
  package static let maximumStages = 32
  /// The most failures that a plan permits before the halt.
  package static let maximumFailures = 10_000

  /// The effect of a halt on nodes that serve the candidate.
  package enum HaltEffect: String, Sendable, CaseIterable {
    /// They go back to the stable manifest.
    case revert
    /// They keep the candidate.
    case stay
  }

  /// The party that makes a candidate the stable manifest after the last stage.
  package enum Promoter: String, Sendable, CaseIterable {
    case nodes
    /// A person, with `carabiner fleet promote`.
    case `operator`
  }

  /// The shares of the nodes that get the candidate, one after the other. They grow, and the last one is all nodes.
  package let stages: [Share]
  /// How long all nodes of a stage serve the candidate before the next stage begins.
  package let hold: Duration
  /// How many nodes fail before the roll-out halts.
  package let failuresToHalt: Int
  package let haltEffect: HaltEffect
  package let promoter: Promoter

  /// The plan of a manifest without the key `fleet`: 10, 50 and 100 percent, 10 minutes each; the first failure halts it.
  package static let standard = RolloutPlan(
    unchecked: [Share(percent: 10), Share(percent: 50), Share.all].compactMap(\.self), .seconds(600), 1, .revert, .nodes)

  private init(unchecked stages: [Share], _ hold: Duration, _ failures: Int, _ effect: HaltEffect, _ promoter: Promoter) {
    self.stages = stages
    self.hold = hold
    failuresToHalt = failures
    haltEffect = effect
    self.promoter = promoter
  }

  /// Checks a plan.
  ///
  /// - Throws: The first fault.
  package init(
    stages: [Share], hold: Duration, failuresToHalt: Int = 1, haltEffect: HaltEffect = .revert, promoter: Promoter = .nodes
  ) throws(RolloutPlanFault) {
    guard stages.count <= Self.maximumStages else { throw .tooManyStages }
    guard stages.last == .all else { throw .endsBeforeAll }
    guard zip(stages, stages.dropFirst()).allSatisfy(<) else { throw .doesNotGrow }
    guard hold >= .zero else { throw .negativeHold }
    guard failuresToHalt >= 1 else { throw .noFailures }
    self.init(unchecked: stages, hold, failuresToHalt, haltEffect, promoter)
  }

  /// The share of a stage. A number beyond the plan, which only a damaged store has, counts as the nearest stage.
  ///
  /// - Parameter stage: The number of the stage, from 1 on.
  package func share(ofStage stage: Int) -> Share { stages[min(max(stage, 1), stages.count) - 1] }
}

/// Why a plan is not valid.
package enum RolloutPlanFault: Error, Sendable, Hashable, CustomStringConvertible {
  case tooManyStages, endsBeforeAll, doesNotGrow, negativeHold, noFailures

  package var description: String {
    switch self {
    case .tooManyStages: "a roll-out has at most \(RolloutPlan.maximumStages) stages; leave some out"
    case .endsBeforeAll: "the last stage must be 100%, or the other nodes would never get the manifest; add 100%"
    case .doesNotGrow: "each stage must be larger than the one before; write, for example, 10%, 50%, 100%"
    case .negativeHold: "hold must not be negative; write, for example, 10m"
    case .noFailures: "halt-after must be at least 1: the number of failed nodes that halt the roll-out"
    }
  }
}
