/// A transaction on the keys of a fleet: changes that are made together, if no key of the conditions has changed since it was read.
package struct FleetChange: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    case put(String, [UInt8])
    case delete(String)
    case deleteAll(prefix: String)
  }

  /// The keys that must not have changed, with the revisions of their last changes; 0 for keys that must not exist.
  package var conditions: [String: Int64] = [:]
  package var steps: [Step] = []

  init(on state: FleetState, unchanged keys: [FleetKey]) {
    for key in keys { conditions[state.keys.name(key)] = state.revision(of: key) }
  }

  /// The error for a transaction that was not made.
  ///
  /// - Parameter found: The revisions of the keys of the conditions that exist now.
  package func conflict(_ found: [String: Int64]) -> FleetError {
    func text(_ revision: Int64) -> String { revision == 0 ? "did not exist" : "was at revision \(revision)" }
    let changed = conditions.sorted { $0.key < $1.key }.filter { found[$0.key] ?? 0 != $0.value }
    let places = changed.map { name, revision in
      let now = found[name] ?? 0
      return "\(name) \(text(revision)), and \(now == 0 ? "does not exist now" : "is at revision \(now) now")"
    }
    let reason = places.isEmpty ? "the keys were changed by another command" : places.joined(separator: "; ")
    return FleetError(.conflict, "nothing was changed: \(reason); look at carabiner fleet status, then repeat the command")
  }
}
