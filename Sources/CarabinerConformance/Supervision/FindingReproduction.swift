internal import CarabinerWire

/// Provokes one finding again: runs the check that found it, with its seed, until its exchange has ended.
package struct FindingReproduction: Sendable {
  package let provocation: Provocation
  package let outcome: CheckOutcome
  /// Whether the rule was broken again, by the same exchange.
  package let cameAgain: Bool

  /// - Throws: ``ConformanceError`` if the plugin cannot be copied.
  package init(of provocation: Provocation, _ check: Check, _ supervisor: Supervisor) throws {
    let staging = try ScratchFolder(for: .reading)
    let copy = "\(staging.path)/plugin.so"
    try Supervisor.copy(supervisor.plugin, to: copy)
    let refusal = supervisor.prepare(copy).refusal
    var trial = supervisor.options.trial
    trial.seed = provocation.seed
    trial.lastExchange = provocation.exchange > 0 ? provocation.exchange : nil
    self.provocation = provocation
    outcome = refusal?.outcomes.first ?? supervisor.run(check, copy, trial).outcome
    // Exchanges at the same time have no number.
    func isSame(_ exchange: Int) -> Bool { [0, exchange].contains(provocation.exchange) || exchange == 0 }
    cameAgain =
      outcome.findings.contains { $0.check == provocation.rule && isSame($0.exchange) }
      || (outcome.hasDied && provocation.rule == provocation.check && isSame(outcome.exchange))
  }

  /// The reproduction as text.
  package var text: String {
    var lines: [String] = []
    if outcome.hasDied { lines.append("\(outcome.status.name) \(outcome.check.id): \(outcome.status.detail)") }
    lines += outcome.stack.map { "        at \($0.text)" }
    lines += outcome.findings.flatMap { finding in
      let exchange = finding.exchange > 0 ? " in exchange \(finding.exchange)" : ""
      return ["\(finding.check)\(exchange): \(finding.text)"] + finding.stack.map { "        at \($0.text)" }
    }
    switch outcome.status {
    case .skip(let reason), .untested(let reason), .harnessError(let reason): lines.append("\(outcome.status.name): \(reason)")
    case .pass, .warn, .fail, .crash, .timeout: break
    }
    lines.append("\(provocation.name) \(cameAgain ? "came again" : "did not come again")")
    return lines.joined(separator: "\n")
  }

  /// The reproduction as JSON.
  package var json: String {
    var value: JSONObject = [
      "finding": .string(provocation.name), "cameAgain": .bool(cameAgain), "status": .string(outcome.status.name),
      "detail": .string(outcome.status.detail), "findings": .array(outcome.findings.map(\.json)),
    ]
    if !outcome.stack.isEmpty { value["stack"] = .array(outcome.stack.map(\.json)) }
    if outcome.exchange > 0 { value["exchange"] = .number(JSONNumber(outcome.exchange)) }
    return String(decoding: JSONValue.object(value).serialized(pretty: true), as: UTF8.self)
  }
}
