internal import Foundation

/// The results of all rounds, and their output.
struct Report {
  private var order: [String] = []
  private var values: [String: [Double]] = [:]
  /// Cases that failed, with the reason.
  private(set) var failures: [String: String] = [:]

  mutating func add(_ figures: [Figure]) {
    for figure in figures {
      if values[figure.name] == nil { order.append(figure.name) }
      values[figure.name, default: []].append(figure.value)
    }
  }

  mutating func fail(_ name: String, _ reason: String) { failures[name] = reason }

  /// Whether there is a figure with this name.
  func contains(_ name: String) -> Bool { values[name] != nil }

  /// Figures computed from the medians of others.
  private var derived: [Figure] {
    DerivedFigure.all.compactMap { figure in
      let parts = figure.parts.compactMap { values[$0]?.median }
      return parts.count == figure.parts.count ? Figure(figure.name, figure.value(parts)) : nil
    }
  }

  // MARK: Table

  var table: String {
    var lines = [Self.line("figure", "median", "least", "most", "aim")]
    for name in order {
      guard let taken = values[name], let least = taken.min(), let most = taken.max() else { continue }
      lines.append(
        Self.line(name, Self.text(taken.median), Self.text(least), Self.text(most), Self.verdict(name, taken.median)))
    }
    for figure in derived {
      lines.append(Self.line(figure.name, Self.text(figure.value), "", "", Self.verdict(figure.name, figure.value)))
    }
    for (name, reason) in failures.sorted(by: { $0.key < $1.key }) { lines.append("\(name) FAILED: \(reason)") }
    return lines.joined(separator: "\n")
  }

  private static func verdict(_ name: String, _ value: Double) -> String {
    guard let aim = Aim.all[name] else { return "" }
    let wanted = aim.lowerBound == 0 ? "≤ \(text(aim.upperBound))" : "\(text(aim.lowerBound)) to \(text(aim.upperBound))"
    return "\(aim.contains(value) ? "ok" : "MISSED") \(wanted)"
  }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.3f" : value < 1000 ? "%.1f" : "%.0f", value)
  }

  private static func line(_ columns: String...) -> String {
    zip(columns, [36, 12, 12, 12, 16]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
  }

  // MARK: JSON

  private struct Summary: Encodable {
    let median: Double
    let least: Double
    let most: Double
    /// The allowed range.
    let aim: ClosedRange<Double>?
  }

  private struct Document: Encodable {
    let figures: [String: Summary]
    let failures: [String: String]
  }

  /// `{"figures": {NAME: {median, least, most, aim: [least, most]}}, "failures": {CASE: REASON}}`
  func json() throws -> Data {
    var figures: [String: Summary] = [:]
    for (name, taken) in values {
      figures[name] = Summary(
        median: taken.median, least: taken.min() ?? .nan, most: taken.max() ?? .nan, aim: Aim.all[name])
    }
    for figure in derived {
      figures[figure.name] = Summary(
        median: figure.value, least: figure.value, most: figure.value, aim: Aim.all[figure.name])
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(Document(figures: figures, failures: failures))
  }
}
