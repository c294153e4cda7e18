package import FoundationEssentials

/// Who switched a stage on or off, and why.
package struct StageDecision: Sendable, Hashable, CustomStringConvertible {
  /// Where a decision comes from.
  package enum Source: Sendable, Hashable {
    /// The entry says `enabled: false`.
    case manifest
    /// An environment variable, and the pattern in it that fits.
    case environment(variable: String, pattern: String)
    /// Somebody while the host ran.
    case live(pattern: String, reason: String, at: Date)
    /// Its circuit breaker, which is open.
    case breaker
    /// The crash-loop guard: it killed the host so often.
    case crashLoop(crashes: Int, within: Duration)
  }

  /// Whether the stage runs.
  package let isEnabled: Bool
  /// Who says so.
  package let source: Source

  /// A decision.
  package init(isEnabled: Bool, source: Source) {
    self.isEnabled = isEnabled
    self.source = source
  }

  /// What fits the stage's name, in as few words as there are.
  package var pattern: String {
    switch source {
    case .manifest: "enabled: \(isEnabled)"
    case .environment(_, let pattern), .live(let pattern, _, _): pattern
    case .breaker: "on-fault"
    case .crashLoop: "crash-loop"
    }
  }

  /// Whether a live decision, or one of the environment, is about a plugin of this name.
  package func fits(_ name: String) -> Bool { pattern == StageOverrides.everything || Glob(pattern).matches(name) }

  /// Who says so, for a person.
  package var author: String {
    switch source {
    case .manifest: "\(pattern) in the manifest"
    case .environment(let variable, let pattern): "\(variable)=\(pattern)"
    case .live(let pattern, let reason, let time): "\(pattern) at \(time.formatted(.iso8601)): \(reason)"
    case .breaker: "its circuit breaker, which is open after faults"
    case .crashLoop(let crashes, let time): "crash-loop: it killed the host \(crashes) times within \(DurationText.print(time))"
    }
  }

  package var description: String { "\(isEnabled ? "enabled" : "disabled") by \(author)" }
}
