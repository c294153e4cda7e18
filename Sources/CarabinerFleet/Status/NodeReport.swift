/// The report of a node under `nodes/` (E12), as far as the rule of the roll-out needs it.
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

/// The note of a node about a candidate under `taken/` (E12). The key stays until the roll-out ends, or until the node ends in order.
package enum TrialMark: Sendable, Hashable {
  /// It tries the candidate, after so many ends of a process that served it.
  case trying(ends: Int)
  /// It serves the candidate, after so many ends of a process that served it.
  case serving(ends: Int)
  /// It failed with the candidate, for this reason.
  case failed(String)
}

extension TrialMark {
  package var isFailure: Bool {
    if case .failed = self { true } else { false }
  }
}
