package import FoundationEssentials

/// The decision that enabled or disabled a stage, with its source.
package struct StageDecision: Sendable, Hashable, CustomStringConvertible {
  /// The source of a decision.
  package enum Source: Sendable, Hashable {
    /// The plugin's entry has `enabled: false`.
    case manifest
    /// An environment variable, and the pattern in it that matches.
    case environment(variable: String, pattern: String)
    /// An operator, while the host runs.
    case live(pattern: String, reason: String, at: Date)
    /// The plugin's circuit breaker is open.
    case breaker
    /// The crash-loop guard: the plugin crashed the host this often.
    case crashLoop(crashes: Int, within: Duration)
    /// The plugin's file is revoked.
    case revoked
  }

  /// Whether the stage runs.
  package let isEnabled: Bool
  /// The source of the decision.
  package let source: Source

  /// A decision.
  package init(isEnabled: Bool, source: Source) {
    self.isEnabled = isEnabled
    self.source = source
  }

  /// The pattern that matches the stage's name; for other sources, the key that decided.
  package var pattern: String {
    switch source {
    case .manifest: "enabled: \(isEnabled)"
    case .environment(_, let pattern), .live(let pattern, _, _): pattern
    case .breaker: "on-fault"
    case .crashLoop: "crash-loop"
    case .revoked: "revoked"
    }
  }

  /// Whether a live or environment decision applies to a plugin with this name.
  package func fits(_ name: String) -> Bool { pattern == StageOverrides.everything || Glob(pattern).matches(name) }

  /// The source of the decision, for the operator.
  package var author: String {
    switch source {
    case .manifest: "\(pattern) in the manifest"
    case .environment(let variable, let pattern): "\(variable)=\(pattern)"
    case .live(let pattern, let reason, let time): "\(pattern) at \(time.formatted(.iso8601)): \(reason)"
    case .breaker: "its circuit breaker, which is open after faults"
    case .crashLoop(let crashes, let time): "crash-loop: it killed the host \(crashes) times within \(DurationText.print(time))"
    case .revoked: "the list of revocations, which has its file"
    }
  }

  package var description: String { "\(isEnabled ? "enabled" : "disabled") by \(author)" }
}
