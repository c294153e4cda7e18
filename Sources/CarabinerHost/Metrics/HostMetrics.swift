internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerRedis
internal import CarabinerRelease
internal import CarabinerSQLite
internal import CarabinerSources
internal import CarabinerUpstreams

/// The metrics of a host: its generations, chain, plugins and upstream.
///
/// All label values are names of the manifest and fixed words; none comes from a client.
struct HostMetrics: Sendable {
  let live: GenerationManager
  let counters: ChainCounters
  /// The keys that must have signed the files; nil if signatures are not checked.
  let trust: TrustPolicy?
  /// The source of the manifest; nil for a file.
  let remote: RemoteManifest?
  /// The store of the state that gateways share.
  let shared = CurrentSharedStore()

  /// Adds the metrics to a sink.
  func write(to sink: inout some MetricSink) {
    writeGenerations(&sink)
    if let remote { SourceMetricsText(metrics: remote.metrics, isStale: live.current.isKept).write(to: &sink) }
    writeReleases(&sink)
    writeRevocation(&sink)
    writeChain(&sink)
    writePlugins(&sink)
    WorkerMetricsText(live.current.host.chain.workers()).write(to: &sink)
    live.timings.write(to: &sink)
    RedisMetricsText(store: live.current.host.client.store.cache as? RedisNormalizedCache, shared: shared.value).write(to: &sink)
    writeUpstream(&sink)
    UpstreamMetricsText(live.current.host.upstreams).write(to: &sink)
  }

  private func writeGenerations(_ text: inout some MetricSink) {
    let retired = live.retired.count
    let trial = live.trial
    text.single("carabiner_generation", .gauge, "The number of the serving generation.", live.current.number)
    text.family("carabiner_generations_alive", .gauge, "Generations by state.")
    for (state, count) in [("serving", 1), ("trial", trial == nil ? 0 : 1), ("retired", retired)] {
      text.sample("carabiner_generations_alive", [("state", state)], Double(count))
    }
    if let trial, case .shadow = trial.kind {
      let totals = trial.comparisons.totals
      text.family("carabiner_shadow_results_total", .counter, "Results of the shadow on trial, by comparison.")
      text.sample("carabiner_shadow_results_total", [("result", "same")], Double(totals.same))
      text.sample("carabiner_shadow_results_total", [("result", "different")], Double(totals.different))
    }
    let reloads = live.reloadCounts
    text.family("carabiner_reloads_total", .counter, "Reloads by outcome.")
    text.sample("carabiner_reloads_total", [("outcome", "accepted")], Double(reloads.all - reloads.refused))
    text.sample("carabiner_reloads_total", [("outcome", "refused")], Double(reloads.refused))
  }

  private func writeReleases(_ text: inout some MetricSink) {
    guard let trust else { return }
    let statements = trust.statements(of: live.current)
    let name = "carabiner_release_expiry_timestamp_seconds"
    text.family(name, .gauge, "When the statements about manifest, plugins and the fleet's list of revocations expire.")
    for statement in statements {
      let labels = [("kind", statement.subject.kind.rawValue), ("name", statement.subject.name)]
      text.sample(name, labels, Double(statement.expires.seconds))
    }
  }

  private func writeRevocation(_ text: inout some MetricSink) {
    guard let trust, trust.revocations != nil else { return }
    text.single(
      "carabiner_revoked_in_use", .gauge, "1 if the serving manifest or one of its plugins is revoked.",
      live.serving.allSatisfy { trust.revoked(in: $0).isEmpty } ? 0 : 1)
  }

  private func writeChain(_ text: inout some MetricSink) {
    let (hits, misses) = counters.cacheReads
    text.family(
      "carabiner_cache_reads_total", .counter, "Reads of the chain's caches, by whether they had a result.")
    text.sample("carabiner_cache_reads_total", [("result", "hit")], Double(hits))
    text.sample("carabiner_cache_reads_total", [("result", "miss")], Double(misses))
    let failures = counters.cacheFailures
    text.family("carabiner_cache_failures_total", .counter, "Failures of the chain's caches.")
    text.sample("carabiner_cache_failures_total", [("access", "read")], Double(failures.reads))
    text.sample("carabiner_cache_failures_total", [("access", "write")], Double(failures.writes))
    if let cache = live.current.host.client.store.cache as? SQLiteNormalizedCache {
      text.single(
        "carabiner_store_evicted_values_total", .counter, "Values removed from the store's file because it was full.",
        cache.evictedValues)
    }
    text.single(
      "carabiner_operation_retries_total", .counter, "Retries of an operation or its HTTP exchange by a stage.",
      counters.retries)
  }

  private func writePlugins(_ text: inout some MetricSink) {
    let entries = live.current.host.chain.entries()
    func family(_ name: String, _ kind: MetricKind, _ help: String, _ value: (EntryStatus) -> Int) {
      text.family(name, kind, help)
      for entry in entries { text.sample(name, [("plugin", entry.name)], Double(value(entry))) }
    }
    family("carabiner_plugin_calls_total", .counter, "Calls that passed a plugin since it was loaded.", \.callsBegun)
    family("carabiner_plugin_calls_running", .gauge, "Calls in progress that pass a plugin.", \.callsInFlight)
    family("carabiner_plugin_faults_total", .counter, "Contract violations of a plugin since it was loaded.", \.faults)
    family("carabiner_plugin_failures_total", .counter, "Calls that a plugin failed since it was loaded.", \.failures)
    family("carabiner_plugin_retries_total", .counter, "Retries that a plugin requested since it was loaded.", \.retries)
    family("carabiner_plugin_enabled", .gauge, "1 if a plugin is enabled, 0 if it is switched off.") {
      $0.isEnabled ? 1 : 0
    }
    text.single(
      "carabiner_quarantined_calls", .gauge,
      "Cancelled hooks whose plugins have not resumed yet and may still read the memory of the call.",
      HostedChain.quarantinedCalls)
    text.single(
      "carabiner_quarantined_bytes", .gauge, "Bytes kept for these hooks; kept-memory limits them.",
      HostedChain.quarantinedBytes)
    let name = "carabiner_plugin_breaker_state"
    text.family(name, .gauge, "1 for the current state of a plugin's circuit breaker; no sample for a plugin without one.")
    for entry in entries {
      guard let breaker = entry.breaker else { continue }
      for phase in [CircuitBreaker.Phase.closed, .open, .halfOpen] {
        text.sample(name, [("plugin", entry.name), ("state", phase.rawValue)], breaker.phase == phase ? 1 : 0)
      }
    }
  }

  private func writeUpstream(_ text: inout some MetricSink) {
    let metrics = live.current.host.transport.metrics
    text.family("carabiner_upstream_connections", .gauge, "Connections to upstreams, by whether they serve a request.")
    text.sample(
      "carabiner_upstream_connections", [("state", "active")], Double(metrics.openConnections - metrics.idleConnections))
    text.sample("carabiner_upstream_connections", [("state", "idle")], Double(metrics.idleConnections))
    text.single(
      "carabiner_upstream_connections_opened_total", .counter,
      "Connections to upstreams that were opened, failed attempts included.",
      metrics.connectionsOpened)
    text.single("carabiner_upstream_requests_running", .gauge, "Requests to upstreams in progress.", metrics.runningRequests)
    text.family("carabiner_upstream_requests_total", .counter, "Ended requests to upstreams, by connection: kept or new.")
    text.sample(
      "carabiner_upstream_requests_total", [("connection", "kept")], Double(metrics.requestsOnKeptConnections))
    text.sample(
      "carabiner_upstream_requests_total", [("connection", "new")],
      Double(max(0, metrics.requestsEnded - metrics.requestsOnKeptConnections)))
  }
}
