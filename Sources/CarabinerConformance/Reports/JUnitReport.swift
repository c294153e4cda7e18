/// Reports as JUnit XML, which CI systems show.
package enum JUnitReport {
  /// One suite for each plugin, one case for each check.
  package static func text(_ reports: [ConformanceReport]) -> String {
    var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>"]
    for report in reports {
      let outcomes = report.outcomes
      let failures = outcomes.count { $0.isFailure(warningsCount: report.warningsCount) }
      let errors = outcomes.count { ["HARNESS_ERROR", "UNTESTED"].contains($0.status.name) }
      let skipped = outcomes.count { if case .skip = $0.status { true } else { false } }
      lines.append(
        "  <testsuite name=\"\(escaped(report.plugin))\" tests=\"\(outcomes.count)\" failures=\"\(failures)\" errors=\"\(errors)\" "
          + "skipped=\"\(skipped)\" time=\"\(seconds(report.duration))\">")
      for outcome in outcomes { lines += testCase(outcome, report) }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return lines.joined(separator: "\n")
  }

  private static func testCase(_ outcome: CheckOutcome, _ report: ConformanceReport) -> [String] {
    let head =
      "    <testcase classname=\"\(escaped(report.plugin))\" name=\"\(outcome.check.id) \(escaped(outcome.check.title))\" "
      + "time=\"\(seconds(outcome.duration))\""
    var inner: [String] = []
    let findings = outcome.findings.map(\.text)
    let reports = zip(findings, outcome.findings).flatMap { [$0] + $1.stack.map { "at \($0.text)" } }
    let origins = [report.origin(ofEndOf: outcome)] + outcome.findings.map(report.origin(of:))
    let stack = outcome.stack.map { "at \($0.text)" }
    let message = escaped(
      ([outcome.status.detail] + stack + reports + origins.compactMap(\.self)).filter { !$0.isEmpty }.joined(separator: "\n"))
    let end = ([outcome.status.detail] + outcome.stack.filter(\.isOfPlugin).prefix(1).map { "at \($0.text)" })
      .joined(separator: " ")
    switch outcome.status {
    case .skip(let reason): inner.append("      <skipped message=\"\(escaped(reason))\"/>")
    case .harnessError(let reason), .untested(let reason): inner.append("      <error message=\"\(escaped(reason))\"/>")
    case _ where outcome.isFailure(warningsCount: report.warningsCount):
      inner.append(
        "      <failure type=\"\(outcome.status.name)\" message=\"\(escaped(findings.first ?? end))\">\(message)</failure>"
      )
    case .warn: inner.append("      <system-out>\(message)</system-out>")
    default: break
    }
    if !outcome.output.isEmpty { inner.append("      <system-err>\(escaped(outcome.output))</system-err>") }
    return inner.isEmpty ? [head + "/>"] : [head + ">"] + inner + ["    </testcase>"]
  }

  private static func seconds(_ duration: Duration) -> String { "\(Double(duration.milliseconds) / 1000)" }

  /// Escapes text for XML. A plugin may have written any bytes, and XML cannot contain all characters.
  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "\n": out += "&#10;"
      case "\t": out += "&#9;"
      default:
        let isAllowed = scalar.value >= 0x20 && scalar.value != 0x7F && !(0xFFFE...0xFFFF).contains(scalar.value)
        out.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
      }
    }
    return out
  }
}
