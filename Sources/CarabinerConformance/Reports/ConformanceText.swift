internal import CarabinerWire

/// A report as text. Plugins choose parts of it, so control characters are escaped.
package struct ConformanceText: Sendable {
  /// Whether the terminal shows colours.
  let isColoured: Bool

  package init(isColoured: Bool) { self.isColoured = isColoured }

  /// All findings, then the sums and the level.
  package func text(_ report: ConformanceReport) -> String {
    if !report.isPlugin, let outcome = report.outcomes.first {
      let reason = outcome.findings.map(\.message).joined(separator: "; ")
      return plain(
        "\(report.plugin): not a plugin: \(reason); `carabiner conform --explain \(outcome.check.id)` explains the rule")
    }
    var lines: [String] = []
    for outcome in report.outcomes where outcome.status != .pass {
      let equal = equal(to: outcome, report)
      if equal.count > 1 {
        if equal.first == outcome.check.id { lines.append(group(equal, outcome.status)) }
        continue
      }
      let alike = report.endsLike(outcome).map(\.check.id)
      if alike.first != outcome.check.id, outcome.findings.isEmpty { continue }
      if case .untested = outcome.status, outcome.findings.isEmpty { continue }
      if case .skip = outcome.status, !outcome.findings.isEmpty || outcome.status.detail.isEmpty { continue }
      lines.append("\(word(outcome.status)) \(plain("\(outcome.check.id) \(outcome.check.title)\(detail(outcome.status))"))")
      for finding in outcome.findings {
        lines.append(plain("        \(finding.text)"))
        lines += finding.stack.map { plain("          at \($0.text)") }
        if let origin = report.origin(of: finding) { lines.append(plain("          \(origin)")) }
      }
      lines += outcome.stack.map { plain("        at \($0.text)") }
      if alike.count > 1 { lines.append("          \(alike.count) checks end so (\(alike.joined(separator: ", ")))") }
      if let origin = report.origin(ofEndOf: outcome) { lines.append(plain("          \(origin)")) }
      if case .crash = outcome.status { lines += output(outcome) }
      if case .timeout = outcome.status { lines += output(outcome) }
    }
    let sums = report.counts.map { "\($0.count) \($0.name.lowercased())" }.joined(separator: ", ")
    let seconds = Double(report.duration.milliseconds) / 1000
    lines += isolation(report)
    lines.append(plain("\(report.plugin): \(sums) in \(seconds) s; \(verdict(report))"))
    if let worst = report.outcomes.first(where: { $0.isFailure(warningsCount: report.warningsCount) }) {
      lines.append("`carabiner conform --explain \(worst.check.id)` explains the rule and the remedy")
    }
    return lines.joined(separator: "\n")
  }

  /// The checks that were skipped, or that failed because of the harness, for the same reason as this one.
  private func equal(to outcome: CheckOutcome, _ report: ConformanceReport) -> [String] {
    switch outcome.status {
    case .skip, .harnessError:
      guard outcome.findings.isEmpty, !outcome.status.detail.isEmpty else { return [] }
      return report.outcomes.filter { $0.findings.isEmpty && $0.status == outcome.status }.map(\.check.id)
    case .pass, .warn, .fail, .untested, .crash, .timeout: return []
    }
  }

  /// One line for checks without a result for the same reason.
  private func group(_ checks: [String], _ status: CheckOutcome.Status) -> String {
    let names = checks.prefix(Self.maximumNames).joined(separator: ", ")
    let more = checks.count > Self.maximumNames ? ", …" : ""
    return "\(word(status)) \(plain("\(checks.count) checks\(detail(status)) (\(names)\(more))"))"
  }

  /// How many checks a group names.
  private static let maximumNames = 8

  private func plain(_ text: String) -> String { PrintableText.escaping(text, keepsLines: true) }

  private func verdict(_ report: ConformanceReport) -> String {
    if let reason = report.untestedReason {
      return "no verdict: \(reason). Pass a valid configuration with --config, and the files that it names with --file"
    }
    let isRefused = report.isolation == .worker && report.hasRefusedCalls
    let exception = isRefused ? ", but not in a worker: a system call was refused" : ""
    if let sanitizer = report.sanitizer {
      if report.outcomes.contains(where: \.isUnanswered) { return "no verdict: some checks have no result" }
      let isKept = report.isGood(warningsCount: report.warningsCount)
      return "\(isKept ? "no broken rule" : "a rule is broken") with \(sanitizer), under which some checks prove nothing; "
        + "build without it for a level"
    }
    if report.isPartial {
      let isKept = report.isGood(warningsCount: report.warningsCount)
      let result = isKept ? "these checks find no broken rule" : "a rule is broken"
      return "partial run: \(result)\(exception); without --check there is a level"
    }
    guard report.isolation == .worker, !isRefused else { return "conforms at level \(report.level)\(exception)" }
    return "conforms in a worker at level \(report.level)"
  }

  /// The checks that did not run in a worker, with their reasons.
  private func isolation(_ report: ConformanceReport) -> [String] {
    let count = report.inProcess.reduce(0) { $0 + $1.checks.count }
    guard count > 0 else { return [] }
    return ["\(report.outcomes.count - count) checks ran in a worker, and \(count) in their own process:"]
      + report.inProcess.map { plain("        \($0.checks.joined(separator: " ")): \($0.reason)") }
  }

  private func word(_ status: CheckOutcome.Status) -> String {
    let padded = status.name.padding(to: 7)
    guard isColoured else { return padded }
    let colour =
      switch status {
      case .pass: 32
      case .warn: 33
      case .skip: 90
      case .untested, .fail, .crash, .timeout, .harnessError: 31
      }
    return "\u{1B}[\(colour)m\(padded)\u{1B}[0m"
  }

  private func detail(_ status: CheckOutcome.Status) -> String { status.detail.isEmpty ? "" : ": \(status.detail)" }

  /// The last lines the plugin wrote.
  private func output(_ outcome: CheckOutcome) -> [String] {
    outcome.output.split(separator: "\n").suffix(12).map { "        | \(PrintableText.escaping(String($0)))" }
  }
}

extension String {
  func padding(to width: Int) -> String { count >= width ? self : self + String(repeating: " ", count: width - count) }
}
