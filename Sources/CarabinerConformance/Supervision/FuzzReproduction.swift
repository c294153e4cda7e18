internal import CarabinerWire

/// Runs one case again, and finds its smallest part that breaks the same rule.
package struct FuzzReproduction: Sendable {
  package let `case`: FuzzCase
  /// The outcome with all requested ingredients.
  package let outcome: CheckOutcome
  /// The numbers of the sufficient ingredients, in order; all requested ones if no rule is broken.
  package let enough: [Int]

  /// Runs a case, and removes one ingredient after the other while the outcome stays the same.
  ///
  /// - Parameters:
  ///   - kept: The ingredients to begin with; all if nil.
  ///   - progress: Called before each run with the number of ingredients it has.
  /// - Throws: ``ConformanceError`` if the plugin cannot be copied.
  package init(
    of one: FuzzCase, keeping kept: Set<Int>? = nil, _ supervisor: Supervisor, progress: (Int) -> Void = { _ in }
  ) throws {
    let staging = try ScratchFolder(for: .reading)
    let copy = "\(staging.path)/plugin.so"
    try Supervisor.copy(supervisor.plugin, to: copy)
    `case` = one
    if let refused = supervisor.prepare(copy).refusal?.outcomes.first {
      (outcome, enough) = (refused, [])
      return
    }
    let run = FuzzRun(supervisor, .fuzzedExchanges, copy)
    var places = (kept ?? Set(one.ingredients.indices)).filter(one.ingredients.indices.contains)
    progress(places.count)
    let first = run.run(one.number..<(one.number + 1), keeping: places)
    var outcome = first.outcome
    let signature = Self.signature(outcome)
    // No other check runs here, so the findings of other checks count for this one.
    if case .pass = outcome.status, !outcome.findings.isEmpty {
      outcome.status = outcome.findings.contains { $0.severity == .failure } ? .fail : .warn
    }
    self.outcome = outcome
    if let signature {
      // A second round, because after the removal of one ingredient another one may become unnecessary.
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

  /// The features that make two outcomes equal: the end and the broken rules; nil if there are none.
  private static func signature(_ outcome: CheckOutcome) -> String? {
    let rules = Set(outcome.findings.map(\.check)).sorted().joined(separator: " ")
    switch outcome.status {
    case .pass, .skip, .untested, .harnessError: return rules.isEmpty ? nil : rules
    case .warn, .fail: return rules
    case .crash(let what, let hook):
      // The words of a sanitizer have values and addresses.
      let words = what.split(separator: " ").filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
      return "\(what.contains("Sanitizer: ") ? words : what) in \(hook.prefix { $0 != "," })"
    case .timeout(let hook): return "timeout in \(hook.prefix { $0 != "," })"
    }
  }

  /// Whether the case breaks a rule.
  package var isBroken: Bool { Self.signature(outcome) != nil }

  /// The reproduction as text.
  package var text: String {
    var lines = ["case \(`case`.name): \(`case`.base)"]
    for (place, part) in `case`.parts.enumerated() { lines.append("  \(place + 1)  \(part)") }
    if isBroken {
      lines.append("it ends with \(outcome.status.name)\(outcome.status.detail.isEmpty ? "" : ": \(outcome.status.detail)")")
      lines += outcome.stack.map { "  at \($0.text)" }
      lines += outcome.findings.map { "  \($0.check): \($0.text)" }
      lines.append(enough.isEmpty ? "none of it is needed: the exchange alone is enough" : "these are enough:")
      lines += enough.map { "  \($0 + 1)  \(`case`.parts[$0])" }
    } else {
      lines.append("it breaks no rule")
    }
    return lines.joined(separator: "\n")
  }

  /// The reproduction as JSON.
  package var json: String {
    var value: JSONObject = [
      "case": .string(`case`.name), "exchanges": .string(`case`.base), "ingredients": .array(`case`.parts.map(JSONValue.string)),
      "status": .string(outcome.status.name), "detail": .string(outcome.status.detail),
      "findings": .array(outcome.findings.map(\.json)), "enough": .array(enough.map { .number(JSONNumber($0 + 1)) }),
    ]
    if !outcome.stack.isEmpty { value["stack"] = .array(outcome.stack.map(\.json)) }
    return String(decoding: JSONValue.object(value).serialized(pretty: true), as: UTF8.self)
  }
}
