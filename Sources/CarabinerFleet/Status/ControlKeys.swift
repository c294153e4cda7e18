/// The keys of a fleet that determine which manifest a node serves (`fleet.12`). Each node watches these keys.
package struct ControlKeys: Sendable, Hashable {
  /// The manifest that all nodes serve outside a roll-out.
  package var stable: CandidateID
  /// The manifest that is rolled out; nil if there is none.
  package var candidate: CandidateID?
  /// How the candidate is rolled out.
  package var plan: RolloutPlan
  /// The stage that the candidate has reached; nil if it has none yet.
  package var stage: RolloutStage?
  /// Whether the candidate is halted.
  package var isHalted: Bool

  package init(
    stable: CandidateID, candidate: CandidateID? = nil, plan: RolloutPlan = .standard, stage: RolloutStage? = nil,
    isHalted: Bool = false
  ) {
    self.stable = stable
    self.candidate = candidate
    self.plan = plan
    self.stage = stage
    self.isHalted = isHalted
  }
}
