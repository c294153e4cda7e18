/// The report of a node under `nodes/` (`fleet.12`), as far as the rule of the roll-out needs it.
package struct NodeReport: Sendable, Hashable {
  /// The state of a node.
  package enum State: String, Sendable, CaseIterable {
    case starting, serving, trial, refused, reverted, draining
    case rolledBack = "rolled-back"
  }

  package var state: State
  /// The candidate that the state is about; nil if it is about the stable manifest.
  package var candidate: CandidateID?

  package init(_ state: State, of candidate: CandidateID? = nil) {
    self.state = state
    self.candidate = candidate
  }

  /// Whether the node serves this candidate.
  func serves(_ candidate: CandidateID) -> Bool { state == .serving && self.candidate == candidate }

  /// Whether the node has ended its trial of this candidate, with either result.
  func isSettled(_ candidate: CandidateID) -> Bool {
    switch state {
    case .serving, .refused, .rolledBack: self.candidate == candidate
    case .starting, .trial, .reverted, .draining: false
    }
  }
}

/// The state of a candidate on a node, which the node writes to a key under `taken/` (`fleet.12`). The key is removed when the roll-out ends
/// or the node shuts down.
package enum TrialMark: Sendable, Hashable {
  /// The node tries the candidate. Processes that served it have ended `ends` times.
  case trying(ends: Int)
  /// The node serves the candidate. Processes that served it have ended `ends` times.
  case serving(ends: Int)
  /// The candidate failed on the node, for this reason.
  case failed(String)
}

extension TrialMark {
  package var isFailure: Bool {
    if case .failed = self { true } else { false }
  }
}
