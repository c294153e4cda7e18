/// Metrics in Prometheus' text format.
package struct PrometheusText: MetricSink, Sendable {
  /// The media type.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text written so far.
  package private(set) var text = ""

  /// Creates an empty text.
  package init() {}

  /// Begins a metric. Its samples must follow.
  package mutating func family(_ name: String, _ kind: MetricKind, _ help: String) {
    text += "# HELP \(name) \(help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n"))\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Adds a sample of the current metric.
  package mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    text += name
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += value == value.rounded() && abs(value) < 1e15 ? " \(Int64(value))\n" : " \(value)\n"
  }

  private static func escaped(_ value: String) -> String {
    guard value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") }) else {
      return value
    }
    return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
