internal import CarabinerFleet
internal import CarabinerGateway
internal import CarabinerSources

/// The metrics of a source of manifests that is not a file.
struct SourceMetricsText {
  let metrics: SourceMetrics
  /// Whether the last known good manifest serves in place of the source's.
  let isStale: Bool

  /// Adds the metrics to a sink.
  func write(to text: inout some MetricSink) {
    text.single("carabiner_source_up", .gauge, "1 if the source of the manifest answers.", metrics.isUp ? 1 : 0)
    if let revision = metrics.revision {
      text.single("carabiner_source_revision", .gauge, "The revision of etcd that was read last.", revision)
    }
    text.single(
      "carabiner_source_stale", .gauge,
      "1 if the last good manifest serves, because that of the source could not be used at the start.",
      isStale ? 1 : 0)
    let name = "carabiner_source_errors_total"
    text.family(name, .counter, "Failures of the source of the manifest, by kind.")
    for code in SourceError.Code.allCases where code != .invalidSettings {
      text.sample(name, [("kind", code.rawValue)], Double(metrics.errors[code.rawValue] ?? 0))
    }
    if let fleet = metrics.fleet { write(fleet, to: &text) }
  }

  private func write(_ fleet: FleetMetrics, to text: inout some MetricSink) {
    text.single(
      "carabiner_fleet_stage", .gauge, "The stage of the roll-out, counted from 1; 0 without a candidate.", fleet.stage)
    text.single("carabiner_fleet_halted", .gauge, "1 if the roll-out is halted.", fleet.isHalted ? 1 : 0)
    guard let nodes = fleet.nodes else { return }
    let name = "carabiner_fleet_nodes"
    text.family(name, .gauge, "Nodes of the fleet by state. Only nodes that watch over a roll-out have it, and only meanwhile.")
    for state in NodeReport.State.allCases { text.sample(name, [("state", state.rawValue)], Double(nodes[state] ?? 0)) }
  }
}
