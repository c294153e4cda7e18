internal import CarabinerWire

/// The result of the test of one plugin.
package struct ConformanceReport: Sendable {
  package let plugin: String
  package let outcomes: [CheckOutcome]
  package let duration: Duration
  /// The highest level of the checks that were run.
  package let lookedAt: Int
  /// Whether warnings count as failures.
  package let warningsCount: Bool

  package init(plugin: String, outcomes: [CheckOutcome], duration: Duration, lookedAt: Int, warningsCount: Bool = false) {
    self.plugin = plugin
    self.outcomes = outcomes
    self.duration = duration
    self.lookedAt = lookedAt
    self.warningsCount = warningsCount
  }

  /// The highest level without a broken or unanswered rule on it or below it, among the levels that were checked; 0 if there is
  /// none.
  package var level: Int {
    let broken = outcomes.filter { $0.isUnanswered || $0.isFailure(warningsCount: warningsCount) }.map(\.check.level).min()
    return broken.map { min($0 - 1, lookedAt) } ?? lookedAt
  }

  package var hasHarnessErrors: Bool { outcomes.contains { if case .harnessError = $0.status { true } else { false } } }

  package func isGood(warningsCount: Bool) -> Bool { !outcomes.contains { $0.isFailure(warningsCount: warningsCount) } }

  /// How many outcomes there are of each kind, ordered by severity.
  package var counts: [(name: String, count: Int)] {
    ["PASS", "WARN", "SKIP", "FAIL", "CRASH", "TIMEOUT", "HARNESS_ERROR"].compactMap { name in
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
    [
      "plugin": .string(plugin), "level": .number(JSONNumber(level)), "milliseconds": .number(JSONNumber(duration.milliseconds)),
      "checks": .array(outcomes.map(\.json)),
    ]
  }
}

extension CheckOutcome {
  var json: JSONValue {
    [
      "id": .string(check.id), "level": .number(JSONNumber(check.level)), "title": .string(check.title),
      "status": .string(status.name), "detail": .string(status.detail),
      "milliseconds": .number(JSONNumber(duration.milliseconds)), "findings": .array(findings.map(\.json)),
      "output": .string(output),
    ]
  }
}

extension Duration {
  var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
