internal import CarabinerWire

/// The result of the test of one plugin.
package struct ConformanceReport: Sendable {
  package let plugin: String
  package let outcomes: [CheckOutcome]
  package let duration: Duration
  /// The highest level of the checks that were run.
  package let lookedAt: Int
  /// Whether only some checks of these levels were run.
  package let isPartial: Bool
  /// Whether warnings count as failures.
  package let warningsCount: Bool
  /// Where the plugin ran, in checks that can run it in a worker.
  package let isolation: TrialIsolation
  /// Whether the file is a plugin. If it is not, the only outcome gives the reason.
  package let isPlugin: Bool
  /// The sanitizer of the plugin, because of which checks were skipped and no level is named; nil without one.
  package var sanitizer: String?
  /// The seed of pseudo-random choices.
  package var seed: UInt64 = 1
  /// The options of the command that findings depend on.
  package var options: [String] = []

  package init(
    plugin: String, outcomes: [CheckOutcome], duration: Duration, lookedAt: Int, isPartial: Bool = false,
    warningsCount: Bool = false, isolation: TrialIsolation = .inProcess, isPlugin: Bool = true
  ) {
    self.plugin = plugin
    self.outcomes = outcomes
    self.duration = duration
    self.lookedAt = lookedAt
    self.isPartial = isPartial
    self.warningsCount = warningsCount
    self.isolation = isolation
    self.isPlugin = isPlugin
  }

  /// The check whose findings are refused system calls, whichever check was running.
  package static let checkOfRefusedCalls = RefusedCalls.check

  /// Whether a system call was refused. Then the plugin does not conform in a worker.
  package var hasRefusedCalls: Bool { outcomes.contains { $0.check.id == Self.checkOfRefusedCalls && !$0.findings.isEmpty } }

  /// The checks that did not run the plugin in a worker in a test with workers, by their reasons.
  package var inProcess: [(reason: String, checks: [String])] {
    guard isolation == .worker else { return [] }
    var reasons: [(reason: String, checks: [String])] = []
    for outcome in outcomes {
      guard let reason = outcome.check.inProcessReason else { continue }
      if let index = reasons.firstIndex(where: { $0.reason == reason }) {
        reasons[index].checks.append(outcome.check.id)
      } else {
        reasons.append((reason, [outcome.check.id]))
      }
    }
    return reasons
  }

  /// The highest level without a broken or unanswered rule on it or below it, among the levels that were checked; 0 if there is
  /// none.
  package var level: Int {
    let broken = outcomes.filter { $0.isUnanswered || $0.isFailure(warningsCount: warningsCount) }.map(\.check.level).min()
    return broken.map { min($0 - 1, lookedAt) } ?? lookedAt
  }

  /// The checks that ended unexpectedly like this one: for the same reason, on the same stack. Without a frame of the plugin there is only
  /// this one, and also if it has cases, because each case is provoked in another way.
  func endsLike(_ outcome: CheckOutcome) -> [CheckOutcome] {
    guard outcome.hasDied, !outcome.check.isFuzzing, outcome.stack.contains(where: \.isOfPlugin) else { return [outcome] }
    return outcomes.filter {
      !$0.check.isFuzzing && $0.status.withoutPlace == outcome.status.withoutPlace && $0.stack == outcome.stack
    }
  }

  package var hasHarnessErrors: Bool { outcomes.contains { if case .harnessError = $0.status { true } else { false } } }

  /// Why no instance could be created; nil if the plugin was tested. Without an instance there is no verdict.
  package var untestedReason: String? {
    outcomes.lazy.compactMap { if case .untested(let reason) = $0.status { reason } else { nil } }.first
  }

  package func isGood(warningsCount: Bool) -> Bool {
    untestedReason == nil && !outcomes.contains { $0.isFailure(warningsCount: warningsCount) }
  }

  /// The number of outcomes by kind, ordered by severity.
  package var counts: [(name: String, count: Int)] {
    ["PASS", "WARN", "SKIP", "UNTESTED", "FAIL", "CRASH", "TIMEOUT", "HARNESS_ERROR"].compactMap { name in
      let count = outcomes.count { $0.status.name == name }
      return count == 0 ? nil : (name, count)
    }
  }

  /// Reports as one JSON text.
  package static func json(_ reports: [ConformanceReport]) -> String {
    let value = JSONValue.object(["version": 1, "plugins": .array(reports.map(\.json))])
    return String(decoding: value.serialized(pretty: true), as: UTF8.self)
  }

  private var json: JSONValue {
    var members: JSONObject = [
      "plugin": .string(plugin), "milliseconds": .number(JSONNumber(duration.milliseconds)),
      "isolation": .string(isolation.rawValue),
    ]
    if sanitizer == nil { members["level"] = .number(JSONNumber(level)) }
    if isPartial { members["partial"] = true }
    if let sanitizer { members["sanitizer"] = .string(sanitizer) }
    if !isPlugin { members["isPlugin"] = false }
    if let untestedReason { members["untested"] = .string(untestedReason) }
    if isolation == .worker { members["conformsInWorker"] = .bool(!hasRefusedCalls && level == lookedAt) }
    members["checks"] = .array(
      outcomes.map { outcome in
        var check = outcome.members
        check["findings"] = .array(
          outcome.findings.map { finding in
            var members = finding.members
            if let command = command(for: finding) { members["reproduce"] = .string(command) }
            return .object(members)
          })
        if let command = command(forEndOf: outcome) { check["reproduce"] = .string(command) }
        guard isolation == .worker else { return .object(check) }
        check["isolation"] = .string((outcome.check.crosses ? TrialIsolation.worker : .inProcess).rawValue)
        if let reason = outcome.check.inProcessReason { check["isolationReason"] = .string(reason) }
        return .object(check)
      })
    return .object(members)
  }
}

extension CheckOutcome {
  var members: JSONObject {
    var members: JSONObject = [
      "id": .string(check.id), "level": .number(JSONNumber(check.level)), "title": .string(check.title),
      "status": .string(status.name), "detail": .string(status.detail),
      "milliseconds": .number(JSONNumber(duration.milliseconds)), "findings": .array(findings.map(\.json)),
      "output": .string(output),
    ]
    if !stack.isEmpty { members["stack"] = .array(stack.map(\.json)) }
    if exchange > 0 { members["exchange"] = .number(JSONNumber(exchange)) }
    return members
  }
}

extension Duration {
  var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
