internal import CarabinerWire

/// Reports as SARIF 2.1.0, which code scanning shows: a rule for each check, a result for each finding.
package enum SARIFReport {
  /// The log of one run over all plugins.
  package static func text(_ reports: [ConformanceReport]) -> String {
    let rules = Catalog.checks.map { check -> JSONValue in
      [
        "id": .string(check.id), "name": .string(check.id), "shortDescription": ["text": .string(check.title)],
        "fullDescription": ["text": .string(check.page.rule)],
        "help": ["text": .string(CatalogText.page(of: check))],
        "properties": ["level": .number(JSONNumber(check.level))],
      ]
    }
    let found = reports.flatMap { report in report.outcomes.flatMap { results(of: $0, report) } }
    let driver: JSONValue = [
      "name": "carabiner conform", "semanticVersion": "1.0.0", "rules": .array(rules),
    ]
    let log: JSONValue = [
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
      "runs": .array([["tool": ["driver": driver], "results": .array(found)]]),
    ]
    return String(decoding: log.serialized(pretty: true), as: UTF8.self)
  }

  private static func results(of outcome: CheckOutcome, _ report: ConformanceReport) -> [JSONValue] {
    func result(_ level: String, _ message: String) -> JSONValue {
      [
        "ruleId": .string(outcome.check.id), "level": .string(level), "message": ["text": .string(message)],
        // Code scanning refuses a result without a line, and a plugin's file has none.
        "locations": .array([
          ["physicalLocation": ["artifactLocation": ["uri": .string(report.plugin)], "region": ["startLine": 1]]]
        ]),
      ]
    }
    var results = outcome.findings.map { finding in
      result(
        finding.severity == .failure || report.warningsCount ? "error" : "warning",
        finding.place.isEmpty ? finding.message : "\(finding.message) (\(finding.place))")
    }
    switch outcome.status {
    case .crash, .timeout: results.append(result("error", "\(outcome.status.name): \(outcome.status.detail)"))
    default: break
    }
    return results
  }
}
