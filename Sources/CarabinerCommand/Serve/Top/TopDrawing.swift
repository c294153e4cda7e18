internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// The figures of a gateway as lines for a terminal.
struct TopDrawing {
  let metrics: TopMetrics
  /// The width of the terminal in columns; nil for no limit.
  var width: Int?

  /// The lines, cut to the width.
  var lines: [String] {
    let all =
      heading + ["", Self.row("plugin", "state", "calls/s", "time/call", "running", "failed/s", "faults")]
      + metrics.plugins.map(Self.row)
    // A gateway chooses the names.
    let printable = all.map { PrintableText.escaping($0) }
    guard let width else { return printable }
    return printable.map { String($0.prefix(max(1, width))) }
  }

  private var heading: [String] {
    let latencies = metrics.latencies
    return [
      "generation \(metrics.generation)\(metrics.generations > 1 ? " (\(metrics.generations) alive)" : "")"
        + "   cpu \(Self.percent(metrics.cpuShare))   memory \(metrics.residentBytes >> 20) MiB",
      "requests   \(Self.number(metrics.requestsPerSecond))/s, errors \(Self.number(metrics.errorsPerSecond))/s, "
        + "cancelled \(Self.number(metrics.cancelledPerSecond))/s, rate limited \(Self.number(metrics.limitedPerSecond))/s",
      "latency    p50 \(ShortTime.text(latencies?.half)), p95 \(ShortTime.text(latencies?.most)), "
        + "p99 \(ShortTime.text(latencies?.nearlyAll))",
      "under way  \(metrics.running), waiting \(metrics.waiting), connections \(metrics.connections)",
      "upstream   \(Self.number(metrics.upstreamPerSecond))/s, on kept connections \(Self.percent(metrics.keptShare)), "
        + "connections \(metrics.upstreamConnections.active) active \(metrics.upstreamConnections.idle) idle, "
        + "retries \(Self.number(metrics.retriesPerSecond))/s",
      "cache      \(Self.number(metrics.cacheReadsPerSecond)) reads/s, hits \(Self.percent(metrics.cacheHitShare))",
    ]
  }

  private static func row(_ plugin: TopMetrics.Plugin) -> String {
    row(
      plugin.name, plugin.state, number(plugin.callsPerSecond), ShortTime.text(plugin.secondsPerCall), "\(plugin.running)",
      number(plugin.failuresPerSecond), "\(plugin.faults)")
  }

  private static func row(_ name: String, _ state: String, _ metrics: String...) -> String {
    func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
    return "\(padded(String(name.prefix(24)), 24)) \(padded(state, 9))"
      + metrics.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
  }

  private static func number(_ value: Double) -> String {
    value == 0 ? "0" : String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
  }

  private static func percent(_ share: Double?) -> String { share.map { String(format: "%.0f%%", $0 * 100) } ?? "-" }
}
