/// A key of a fleet (`fleet.12`).
package enum FleetKey: Sendable, Hashable {
  /// The manifest that all nodes serve outside a roll-out, and its signed statement.
  case stable, stableRelease
  /// The manifest that is rolled out, and its signed statement.
  case candidate, candidateRelease
  /// The list of revocations, and its signed statement (`signature.8`).
  case revoked, revokedRelease
  /// The stage that a candidate has reached.
  case stage(CandidateID)
  /// The halt of a candidate.
  case halt(CandidateID)
  /// The note of a node about a candidate.
  case taken(CandidateID, by: NodeName)
  /// The report of a node, which ends with its lease.
  case node(NodeName)
}
