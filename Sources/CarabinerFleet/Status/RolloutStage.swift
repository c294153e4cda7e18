/// A stage of a roll-out, as the key `stage/` has it.
///
/// It determines by itself which nodes belong to it, so a node need not read the reports of the others.
package struct RolloutStage: Sendable, Hashable {
  /// The number of the stage, from 1 on.
  package let number: Int
  /// The last place in the order of ranks that belongs to the stage.
  package let end: UInt64
  /// The number of nodes of the fleet when the stage began.
  package let fleet: Int

  /// A stage as it is read from the store.
  ///
  /// - Parameters:
  ///   - number: The number of the stage, from 1 on.
  ///   - end: The last place that belongs to the stage.
  ///   - fleet: The number of nodes of the fleet.
  package init(_ number: Int, end: UInt64, fleet: Int) {
    self.number = number
    self.end = end
    self.fleet = fleet
  }

  /// The stage with this number, for the nodes that are there now.
  package init(_ number: Int, of plan: RolloutPlan, _ status: RolloutStatus) {
    let share = plan.share(ofStage: number)
    // All nodes includes those that come later.
    let end = share == .all ? UInt64.max : status.place(ofNode: share.nodes(of: status.count)) ?? 0
    self.init(number, end: end, fleet: status.count)
  }

  /// Whether a node belongs to the stage.
  package func includes(_ rank: NodeRank) -> Bool { rank.place <= end }
}
