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
    func result(
      _ level: String, _ message: String, _ count: Int, _ command: String?, _ stack: [StackFrame], checks: [String] = []
    ) -> JSONValue {
      var result: JSONObject = [
        "ruleId": .string(outcome.check.id), "level": .string(level), "message": ["text": .string(message)],
        // Code scanning refuses a result without a line, and a plugin's file has none.
        "locations": .array([
          stack.lazy.compactMap(location(of:)).first
            ?? ["physicalLocation": ["artifactLocation": ["uri": .string(report.plugin)], "region": ["startLine": 1]]]
        ]),
      ]
      if count > 1 { result["occurrenceCount"] = .number(JSONNumber(count)) }
      var properties = JSONObject()
      if let command { properties["reproduce"] = .string(command) }
      if checks.count > 1 { properties["checks"] = .array(checks.map(JSONValue.string)) }
      if !properties.isEmpty { result["properties"] = .object(properties) }
      if !stack.isEmpty {
        result["stacks"] = .array([["message": ["text": .string(message)], "frames": .array(stack.map(frame))]])
      }
      return .object(result)
    }
    var results = outcome.findings.map { finding in
      result(
        finding.severity == .failure || report.warningsCount ? "error" : "warning",
        // Tools compare the texts of two runs, and the counts of races differ.
        finding.statement, finding.count, report.command(for: finding), finding.stack)
    }
    switch outcome.status {
    case .crash, .timeout:
      // One alert for one line of the plugin, whichever checks reach it.
      let alike = report.endsLike(outcome)
      guard alike.first?.check.id == outcome.check.id else { break }
      results.append(
        result(
          "error", "\(outcome.status.name): \(outcome.status.detail)", alike.count, report.command(forEndOf: outcome),
          outcome.stack, checks: alike.map(\.check.id)))
    default: break
    }
    return results
  }

  /// The place of a frame in the source; nil without debug information.
  private static func location(of frame: StackFrame) -> JSONValue? {
    guard let file = frame.file, let line = frame.line else { return nil }
    let place: JSONValue = [
      "artifactLocation": ["uri": .string(uri(file))], "region": ["startLine": .number(JSONNumber(line))],
    ]
    guard let function = frame.function else { return ["physicalLocation": place] }
    return ["physicalLocation": place, "logicalLocations": .array([["fullyQualifiedName": .string(function)]])]
  }

  private static func frame(_ frame: StackFrame) -> JSONValue {
    var location = location(of: frame)?.object ?? JSONObject()
    location["message"] = ["text": .string(frame.text)]
    return ["module": .string(frame.library), "location": .object(location)]
  }

  /// A path as a URI: relative to the folder of the run, or absolute.
  private static func uri(_ path: String) -> String {
    let isPlain: (UInt8) -> Bool = { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/-._~".utf8.contains(byte)
      }
    }
    let text = path.utf8.map {
      isPlain($0) ? String(UnicodeScalar($0)) : "%" + (String(Int($0) + 256, radix: 16, uppercase: true).suffix(2))
    }
    return (path.hasPrefix("/") ? "file://" : "") + text.joined()
  }
}
