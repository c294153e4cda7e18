internal import CarabinerWire

/// One case again, and the least of it that breaks the same rule.
package struct FuzzReproduction: Sendable {
  package let `case`: FuzzCase
  /// How it ends with all that was asked for.
  package let outcome: CheckOutcome
  /// The places of the ingredients that are enough, in order; all that were asked for if nothing is broken.
  package let enough: [Int]

  /// Runs a case, and leaves out one ingredient after the other as long as the same happens.
  ///
  /// - Parameters:
  ///   - kept: The ingredients to begin with; all if nil.
  ///   - progress: Called before each run with the number of ingredients it has.
  /// - Throws: ``SupervisorError`` if the plugin cannot be copied.
  package init(
    of one: FuzzCase, keeping kept: Set<Int>? = nil, _ supervisor: Supervisor, progress: (Int) -> Void = { _ in }
  ) throws {
    let staging = try ScratchFolder(for: .reading)
    let copy = "\(staging.path)/plugin.so"
    try Supervisor.copy(supervisor.plugin, to: copy)
    let run = FuzzRun(supervisor, .fuzzedExchanges, copy)
    `case` = one
    var places = (kept ?? Set(one.ingredients.indices)).filter(one.ingredients.indices.contains)
    progress(places.count)
    let first = run.run(one.number..<(one.number + 1), keeping: places)
    var outcome = first.outcome
    let signature = Self.signature(outcome)
    // Findings of other checks are this one's too: here it is the only one.
    if case .pass = outcome.status, !outcome.findings.isEmpty {
      outcome.status = outcome.findings.contains { $0.severity == .failure } ? .fail : .warn
    }
    self.outcome = outcome
    if let signature {
      // Two rounds: what one ingredient needed may be needless once another one is gone.
      for _ in 0..<2 {
        for place in places.sorted() where !supervisor.isStopped {
          progress(places.count - 1)
          let rest = places.subtracting([place])
          if Self.signature(run.run(one.number..<(one.number + 1), keeping: rest).outcome) == signature { places = rest }
        }
      }
    }
    enough = places.sorted()
  }

  /// What makes two outcomes the same: how it ended and which rules were broken; nil if none.
  private static func signature(_ outcome: CheckOutcome) -> String? {
    let rules = Set(outcome.findings.map(\.check)).sorted().joined(separator: " ")
    switch outcome.status {
    case .pass, .skip, .harnessError: return rules.isEmpty ? nil : rules
    case .warn, .fail: return rules
    case .crash(let what, let hook): return "\(what) in \(hook.prefix { $0 != "," })"
    case .timeout(let hook): return "timeout in \(hook.prefix { $0 != "," })"
    }
  }

  /// Whether the case breaks a rule.
  package var isBroken: Bool { Self.signature(outcome) != nil }

  /// For people.
  package var text: String {
    var lines = ["case \(`case`.name): \(`case`.base)"]
    for (place, part) in `case`.parts.enumerated() { lines.append("  \(place + 1)  \(part)") }
    if isBroken {
      lines.append("it ends with \(outcome.status.name)\(outcome.status.detail.isEmpty ? "" : ": \(outcome.status.detail)")")
      lines += outcome.findings.map { "  \($0.check): \($0.message)\($0.place.isEmpty ? "" : " [\($0.place)]")" }
      lines.append(enough.isEmpty ? "none of it is needed: the exchange alone is enough" : "these are enough:")
      lines += enough.map { "  \($0 + 1)  \(`case`.parts[$0])" }
    } else {
      lines.append("it breaks no rule")
    }
    return lines.joined(separator: "\n")
  }

  /// For machines.
  package var json: String {
    let value: JSONValue = [
      "case": .string(`case`.name), "exchanges": .string(`case`.base), "ingredients": .array(`case`.parts.map(JSONValue.string)),
      "status": .string(outcome.status.name), "detail": .string(outcome.status.detail),
      "findings": .array(outcome.findings.map(\.json)), "enough": .array(enough.map { .number(JSONNumber($0 + 1)) }),
    ]
    return String(decoding: value.serialized(pretty: true), as: UTF8.self)
  }
}
