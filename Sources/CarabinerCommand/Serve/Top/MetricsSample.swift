internal import CarabinerGateway
internal import Foundation

/// The metrics of a gateway at one time.
struct MetricsSample: Sendable {
  /// A series of a metric.
  struct Series: Hashable, Sendable {
    let name: String
    let labels: [String: String]
  }

  /// The time of the sample.
  let time: ContinuousClock.Instant
  private let values: [Series: Double]

  /// Parses Prometheus' text format as written by the gateway, without timestamps.
  init(parsing text: String, at time: ContinuousClock.Instant = .now) throws(CommandError) {
    self.time = time
    var values: [Series: Double] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.hasPrefix("#") { continue }
      var reader = LineReader(line)
      guard let series = reader.series(), let value = reader.value() else { throw .malformedMetrics(line: index + 1) }
      values[series] = value
    }
    self.values = values
  }

  /// The value of a series; nil if the series does not exist.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? { values[Series(name: name, labels: labels)] }

  /// All series of a metric.
  func series(_ name: String) -> [(labels: [String: String], value: Double)] {
    values.compactMap { $0.key.name == name ? ($0.key.labels, $0.value) : nil }
  }

  /// The sum of all series of a metric that have these labels.
  func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
    values.reduce(0) { sum, entry in
      guard entry.key.name == name, labels.allSatisfy({ entry.key.labels[$0.key] == $0.value }) else { return sum }
      return sum + entry.value
    }
  }
}

/// Parses one line of metrics.
private struct LineReader {
  private var rest: Substring

  init(_ line: Substring) { rest = line }

  mutating func series() -> MetricsSample.Series? {
    let name = take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    guard !name.isEmpty else { return nil }
    var labels: [String: String] = [:]
    guard skip("{") else { return MetricsSample.Series(name: String(name), labels: [:]) }
    while !skip("}") {
      let label = take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      guard !label.isEmpty, skip("="), skip("\""), let value = quoted() else { return nil }
      labels[String(label)] = value
      guard skip(",") || rest.first == "}" else { return nil }
    }
    return MetricsSample.Series(name: String(name), labels: labels)
  }

  mutating func value() -> Double? {
    guard skip(" ") else { return nil }
    return rest == "+Inf" ? .infinity : Double(rest)
  }

  /// The text up to the closing quotation mark.
  private mutating func quoted() -> String? {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "\\":
        switch rest.popFirst() {
        case "n": text.append("\n")
        case "\\": text.append("\\")
        case "\"": text.append("\"")
        default: return nil
        }
      default: text.append(character)
      }
    }
    return nil
  }

  private mutating func take(_ isWanted: (Character) -> Bool) -> Substring {
    let taken = rest.prefix(while: isWanted)
    rest = rest[taken.endIndex...]
    return taken
  }

  private mutating func skip(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }
}
