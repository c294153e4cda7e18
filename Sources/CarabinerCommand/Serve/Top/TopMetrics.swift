internal import CarabinerBridge
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// The activity of a gateway between two samples of its metrics.
struct TopMetrics: Sendable {
  /// The activity of one plugin.
  struct Plugin: Sendable {
    let name: String
    let callsPerSecond: Double
    /// The mean time in the plugin's hooks for each timed call of the interval, in seconds. If none was timed, the mean since the
    /// start; nil if there is none.
    let secondsPerCall: Double?
    let running: Int
    let failuresPerSecond: Double
    /// The number of faults since the plugin was loaded.
    let faults: Int
    /// The state of the plugin's breaker, "enabled" or "disabled".
    let state: String
  }

  let seconds: Double
  /// Whether the gateway was restarted after the first sample. If so, all figures count from its start.
  let isRestarted: Bool
  let generation: Int
  let generations: Int
  let requestsPerSecond: Double
  let errorsPerSecond: Double
  let cancelledPerSecond: Double
  let limitedPerSecond: Double
  /// The 50th, 95th and 99th percentile of the latencies in seconds; nil if there were no requests.
  let latencies: (half: Double, most: Double, nearlyAll: Double)?
  let running: Int
  let waiting: Int
  let connections: Int
  let plugins: [Plugin]
  let upstreamPerSecond: Double
  /// The share of upstream requests on existing connections; nil if there were no requests.
  let keptShare: Double?
  let upstreamConnections: (active: Int, idle: Int)
  let retriesPerSecond: Double
  /// The share of cache reads that found a result; nil if there were no reads.
  let cacheHitShare: Double?
  let cacheReadsPerSecond: Double
  let cpuShare: Double
  let residentBytes: Int

  init(from first: MetricsSample, to second: MetricsSample) {
    let isRestarted = first.value("process_start_time_seconds") != second.value("process_start_time_seconds")
    let seconds = max((second.time - first.time).seconds, 1e-6)
    func more(_ name: String, _ labels: [String: String] = [:]) -> Double {
      // Counters of a reloaded plugin restart at zero, as in Prometheus' rate().
      let (then, now) = (isRestarted ? 0 : first.sum(name, labels), second.sum(name, labels))
      return now >= then ? now - then : now
    }
    func rate(_ name: String, _ labels: [String: String] = [:]) -> Double { more(name, labels) / seconds }
    func gauge(_ name: String, _ labels: [String: String] = [:]) -> Int { Int(second.value(name, labels) ?? 0) }
    func share(_ name: String, _ labels: [String: String]) -> Double? {
      let all = more(name)
      return all > 0 ? more(name, labels) / all : nil
    }
    self.seconds = seconds
    self.isRestarted = isRestarted
    generation = gauge("carabiner_generation")
    generations = Int(second.sum("carabiner_generations_alive"))
    requestsPerSecond = rate("carabiner_requests_total")
    errorsPerSecond =
      rate("carabiner_operations_total", ["outcome": "failed"]) + rate("carabiner_operations_total", ["outcome": "errors"])
    cancelledPerSecond = rate("carabiner_requests_cancelled_total")
    limitedPerSecond = rate("carabiner_requests_rate_limited_total")
    let buckets = second.series("carabiner_request_duration_seconds_bucket").map { series in
      (
        bound: Double(series.labels["le"] ?? "") ?? .infinity,
        count: more("carabiner_request_duration_seconds_bucket", series.labels)
      )
    }
    let histogram = HistogramDifference(buckets)
    latencies = histogram.quantile(0.5).flatMap { half in
      histogram.quantile(0.95).flatMap { most in histogram.quantile(0.99).map { (half, most, $0) } }
    }
    running = gauge("carabiner_operations_running")
    waiting = gauge("carabiner_operations_waiting")
    connections = gauge("carabiner_connections")
    upstreamPerSecond = rate("carabiner_upstream_requests_total")
    keptShare = share("carabiner_upstream_requests_total", ["connection": "kept"])
    upstreamConnections = (
      gauge("carabiner_upstream_connections", ["state": "active"]), gauge("carabiner_upstream_connections", ["state": "idle"])
    )
    retriesPerSecond = rate("carabiner_operation_retries_total")
    cacheHitShare = share("carabiner_cache_reads_total", ["result": "hit"])
    cacheReadsPerSecond = rate("carabiner_cache_reads_total")
    cpuShare = rate("process_cpu_seconds_total")
    residentBytes = gauge("process_resident_memory_bytes")
    plugins = second.series("carabiner_plugin_calls_total").compactMap(\.labels["plugin"]).sorted().map { name in
      let label = ["plugin": name]
      func time(_ value: (String, [String: String]) -> Double) -> Double? {
        let hooks = Set(
          second.series("carabiner_stage_duration_seconds_count").compactMap { $0.labels["plugin"] == name ? $0.labels : nil })
        let means = hooks.compactMap { labels -> Double? in
          let count = value("carabiner_stage_duration_seconds_count", labels)
          return count > 0 ? value("carabiner_stage_duration_seconds_sum", labels) / count : nil
        }
        return means.isEmpty ? nil : means.reduce(0, +)
      }
      let breaker = second.series("carabiner_plugin_breaker_state").first { $0.labels["plugin"] == name && $0.value == 1 }
      let isEnabled = second.value("carabiner_plugin_enabled", label) == 1
      return Plugin(
        name: name, callsPerSecond: rate("carabiner_plugin_calls_total", label),
        secondsPerCall: time(more) ?? time(second.sum), running: gauge("carabiner_plugin_calls_running", label),
        failuresPerSecond: rate("carabiner_plugin_failures_total", label), faults: gauge("carabiner_plugin_faults_total", label),
        state: isEnabled ? breaker?.labels["state"] ?? "enabled" : "disabled")
    }
  }

  var json: JSONValue {
    func number(_ value: Double?) -> JSONValue {
      value.flatMap { JSONNumber(($0 * 1e9).rounded() / 1e9) }.map { .number($0) } ?? .null
    }
    return [
      "interval_seconds": number(seconds), "restarted": .bool(isRestarted), "generation": .count(generation),
      "generations": .count(generations), "requests_per_second": number(requestsPerSecond),
      "errors_per_second": number(errorsPerSecond), "cancelled_per_second": number(cancelledPerSecond),
      "rate_limited_per_second": number(limitedPerSecond),
      "latency_seconds": ["p50": number(latencies?.half), "p95": number(latencies?.most), "p99": number(latencies?.nearlyAll)],
      "running": .count(running), "waiting": .count(waiting), "connections": .count(connections),
      "plugins": .array(
        plugins.map { plugin in
          [
            "name": .string(plugin.name), "calls_per_second": number(plugin.callsPerSecond),
            "seconds_per_call": number(plugin.secondsPerCall), "running": .count(plugin.running),
            "failures_per_second": number(plugin.failuresPerSecond), "faults": .count(plugin.faults),
            "state": .string(plugin.state),
          ]
        }),
      "upstream": [
        "requests_per_second": number(upstreamPerSecond), "kept_share": number(keptShare),
        "active": .count(upstreamConnections.active), "idle": .count(upstreamConnections.idle),
      ],
      "retries_per_second": number(retriesPerSecond),
      "cache": ["reads_per_second": number(cacheReadsPerSecond), "hit_share": number(cacheHitShare)],
      "process": ["cpu_share": number(cpuShare), "resident_bytes": .count(residentBytes)],
    ]
  }
}
