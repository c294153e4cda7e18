/// The names of the keys of a fleet, which begin with its prefix (`fleet.12`).
package struct FleetKeys: Sendable, Hashable {
  /// The text before all keys, without a slash at its end.
  package let prefix: String

  package init(prefix: String) { self.prefix = prefix }

  /// The names of the keys for manifests.
  package var manifests: [String] {
    [.stable, .stableRelease, .candidate, .candidateRelease].map(name)
  }
  /// The beginning of the names of all stages.
  package var stages: String { "\(prefix)/stage/" }
  /// The beginning of the names of all halts.
  package var halts: String { "\(prefix)/halt/" }
  /// The beginning of the names of all notes about candidates.
  package var marks: String { "\(prefix)/taken/" }
  /// The beginning of the names of all reports.
  package var nodes: String { "\(prefix)/nodes/" }

  /// The beginning of the names of all notes about a candidate.
  package func marks(of candidate: CandidateID) -> String { "\(marks)\(candidate)/" }

  /// The name of a key.
  package func name(_ key: FleetKey) -> String {
    switch key {
    case .stable: "\(prefix)/stable"
    case .stableRelease: "\(prefix)/stable.release"
    case .candidate: "\(prefix)/candidate"
    case .candidateRelease: "\(prefix)/candidate.release"
    case .revoked: "\(prefix)/revoked"
    case .revokedRelease: "\(prefix)/revoked.release"
    case .stage(let id): "\(stages)\(id)"
    case .halt(let id): "\(halts)\(id)"
    case .taken(let id, let node): "\(marks(of: id))\(node)"
    case .node(let node): "\(nodes)\(node)"
    }
  }

  /// The key with a name; nil if it is none of a fleet.
  package func key(named name: String) -> FleetKey? {
    guard name.hasPrefix("\(prefix)/") else { return nil }
    let parts = name.dropFirst(prefix.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    let candidate = parts.count > 1 ? CandidateID(String(parts[1])) : nil
    switch (parts.first, parts.count) {
    case ("stable", 1): return .stable
    case ("stable.release", 1): return .stableRelease
    case ("candidate", 1): return .candidate
    case ("candidate.release", 1): return .candidateRelease
    case ("revoked", 1): return .revoked
    case ("revoked.release", 1): return .revokedRelease
    case ("stage", 2): return candidate.map { .stage($0) }
    case ("halt", 2): return candidate.map { .halt($0) }
    case ("taken", 3):
      guard let candidate, let node = NodeName(parts[2]) else { return nil }
      return .taken(candidate, by: node)
    case ("nodes", 2): return NodeName(parts[1]).map { .node($0) }
    default: return nil
    }
  }
}
