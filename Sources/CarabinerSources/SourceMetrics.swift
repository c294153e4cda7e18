package import CarabinerFleet

/// The state of a source, for metrics.
package struct SourceMetrics: Sendable, Hashable {
  /// Whether the source answers at the moment.
  package var isUp = false
  /// The revision of the last answer; nil for a source without revisions.
  package var revision: Int64?
  /// The number of failures by kind.
  package var errors: [String: Int] = [:]
  /// The roll-out of the fleet; nil for a source without a fleet.
  package var fleet: FleetMetrics?

  package init() {}
}

/// The state of a fleet's roll-out as one of its nodes knows it.
package struct FleetMetrics: Sendable, Hashable {
  /// The name of this node.
  package let node: NodeName
  /// The state that this node reports; nil before the first report.
  package var state: NodeReport.State?
  /// Whether the key with the report of this node is its own.
  package var isRegistered = false
  /// The candidate; nil if there is none.
  package var candidate: CandidateID?
  /// The stage of the candidate, counted from 1; 0 if there is none.
  package var stage = 0
  /// Whether the candidate is halted.
  package var isHalted = false
  /// The number of nodes by state; nil if this node does not read the reports of the others at the moment.
  package var nodes: [NodeReport.State: Int]?

  package init(node: NodeName) { self.node = node }
}
