internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerUpstreams

/// The metrics of upstreams. Labels are names and URLs of the manifest, and fixed words.
struct UpstreamMetricsText {
  private let upstreams: [(upstream: Upstream, snapshot: UpstreamSnapshot)]
  private let counters: [(name: String, values: UpstreamCounters.Values)]

  init(_ set: UpstreamSet) {
    upstreams = set.all.map { ($0, $0.snapshot) }
    counters = set.countersByName.map { ($0.name, $0.counters.values) }
  }

  /// Adds the metrics to a sink.
  func write(to text: inout some MetricSink) {
    writeRetries(&text)
    guard !upstreams.isEmpty else { return }
    writeEndpoints(&text)
    gauge(&text, "carabiner_upstream_panic", "1 if all endpoints of an upstream are used because too few are available.") {
      $0.isPanicking ? 1 : 0
    }
    gauge(&text, "carabiner_upstream_breaker_open", "1 if the circuit breaker of an upstream is open.") { $0.isOpen ? 1 : 0 }
    gauge(&text, "carabiner_upstream_under_way", "Requests under way in an upstream.", \.underWay)
    gauge(&text, "carabiner_upstream_waiting", "Requests that wait for others of their upstream to end.", \.waiting)
    writeWatching(&text)
  }

  private func gauge(
    _ text: inout some MetricSink, _ name: String, _ help: String, _ value: (UpstreamSnapshot) -> Int
  ) {
    text.family(name, .gauge, help)
    for (upstream, snapshot) in upstreams { text.sample(name, [("upstream", upstream.settings.name)], Double(value(snapshot))) }
  }

  private func writeRetries(_ text: inout some MetricSink) {
    let name = "carabiner_upstream_retries_total"
    text.family(
      name, .counter,
      "Retries between chain and endpoints: sent, denied by the budget, and succeeded, which are also counted as sent.")
    for (upstream, values) in counters {
      for (reason, outcomes) in values.retries.sorted(by: { $0.key < $1.key }) {
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) {
          text.sample(name, [("upstream", upstream), ("reason", reason), ("outcome", outcome)], Double(count))
        }
      }
    }
  }

  private func writeEndpoints(_ text: inout some MetricSink) {
    let available = "carabiner_upstream_endpoint_available"
    text.family(available, .gauge, "1 if an endpoint, or one of its addresses, is available.")
    for (upstream, snapshot) in upstreams {
      for label in Set(upstream.endpoints.map(\.label)).sorted() {
        let isAvailable = snapshot.endpoints.contains { $0.isAvailable && upstream.endpoints[$0.server.entry].label == label }
        text.sample(available, labels(upstream, label), isAvailable ? 1 : 0)
      }
    }
    let requests = "carabiner_upstream_endpoint_requests_total"
    text.family(requests, .counter, "Attempts at an endpoint, by the class of the status or the kind of failure.")
    forEachLabel { upstream, label, values in
      for (result, count) in (values.requests[label] ?? [:]).sorted(by: { $0.key < $1.key }) {
        text.sample(requests, labels(upstream, label) + [("result", result)], Double(count))
      }
    }
    let ejections = "carabiner_upstream_ejections_total"
    text.family(ejections, .counter, "Ejections of an endpoint because of failures in a row.")
    forEachLabel { upstream, label, values in
      text.sample(ejections, labels(upstream, label), Double(values.ejections[label] ?? 0))
    }
  }

  private func labels(_ upstream: Upstream, _ label: String) -> [(String, String)] {
    [("upstream", upstream.settings.name), ("endpoint", label)]
  }

  /// Calls `body` for each endpoint. Entries that differ only in user name or query have the same label.
  private func forEachLabel(_ body: (Upstream, String, UpstreamCounters.Values) -> Void) {
    for (upstream, _) in upstreams {
      let values = upstream.counters.values
      for label in Set(upstream.endpoints.map(\.label)).sorted() { body(upstream, label, values) }
    }
  }

  private func writeWatching(_ text: inout some MetricSink) {
    let checks = "carabiner_upstream_health_checks_total"
    text.family(checks, .counter, "Active checks of endpoints, by result.")
    for (upstream, _) in upstreams where upstream.settings.health != nil {
      let values = upstream.counters.values
      for (result, count) in [("failed", values.failedChecks), ("succeeded", values.goodChecks)] {
        text.sample(checks, [("upstream", upstream.settings.name), ("result", result)], Double(count))
      }
    }
    let lookups = "carabiner_upstream_resolve_failures_total"
    text.family(lookups, .counter, "Failed lookups of host names.")
    for (upstream, _) in upstreams {
      text.sample(lookups, [("upstream", upstream.settings.name)], Double(upstream.counters.values.failedLookups))
    }
  }
}
