/// The next step of a node in a roll-out. All but ``serveStable`` are transactions on the keys of the fleet, which fail if the candidate, its
/// stage or its halt have changed.
package enum RolloutAction: Sendable, Hashable {
  /// Note the trial under `taken/`, then load the candidate. The number is that of the ends of processes that served it.
  case take(CandidateID, ends: Int)
  /// Serve the stable manifest, and give up a candidate.
  case serveStable
  /// Note that a node has failed.
  case noteFailure(of: String, reason: String)
  /// Halt the roll-out because of these nodes, by their reasons.
  case halt([String: String])
  case begin(RolloutStage)
  /// Make the candidate the stable manifest.
  case promote
}
