internal import CarabinerGateway
internal import CarabinerRedis

/// The metrics of a store in Redis, and of the state that gateways share there.
struct RedisMetricsText {
  private let metrics: RedisMetrics?
  private let uses: [RedisMetrics.Use]
  private let commands: [String: Int]

  init(store: RedisNormalizedCache?, shared: SharedStore?) {
    metrics = store?.metrics
    let shared = shared?.metrics
    uses = (metrics?.uses ?? []) + [shared?.use].compactMap(\.self)
    commands = (metrics?.commands ?? [:]).merging(shared?.commands ?? [:]) { $0 + $1 }
  }

  /// Adds the metrics to a sink.
  func write(to text: inout some MetricSink) {
    guard !uses.isEmpty else { return }
    writeConnections(&text)
    if let metrics { write(metrics, &text) }
  }

  private func writeConnections(_ text: inout some MetricSink) {
    func family(_ name: String, _ kind: MetricKind, _ help: String, _ value: (RedisMetrics.Use) -> Int) {
      text.family(name, kind, help)
      for use in uses { text.sample(name, [("use", use.name)], Double(value(use))) }
    }
    family("carabiner_redis_up", .gauge, "1 if Redis is connected, by the use of the connection.") { $0.isUp ? 1 : 0 }
    family("carabiner_redis_circuit_open", .gauge, "1 if Redis is not used because it was too slow.") { $0.isCircuitOpen ? 1 : 0 }
    family("carabiner_redis_reconnects_total", .counter, "Connections to Redis that were opened again.", \.reconnects)
    self.family("carabiner_redis_commands_total", "result", "Commands to Redis, by their result.", commands, &text)
  }

  private func family(
    _ name: String, _ label: String, _ help: String, _ values: [String: Int], _ text: inout some MetricSink
  ) {
    text.family(name, .counter, help)
    for (word, count) in values.sorted(by: { $0.key < $1.key }) { text.sample(name, [(label, word)], Double(count)) }
  }

  private func write(_ metrics: RedisMetrics, _ text: inout some MetricSink) {
    writeReads(metrics, &text)
    text.single(
      "carabiner_redis_budget_exhausted_total", .counter, "Reads that had no answer within read-budget.", metrics.exhaustedBudgets
    )
    family(
      "carabiner_redis_writes_dropped_total", "reason", "Writes to the store that were dropped, by the reason.",
      metrics.droppedWrites, &text)
    text.single("carabiner_redis_write_queue_bytes", .gauge, "Bytes of writes that wait for Redis.", metrics.queuedBytes)
    family(
      "carabiner_redis_invalidations_total", "direction", "Messages about changed fields, to other nodes and from them.",
      ["sent": metrics.sentInvalidations, "received": metrics.receivedInvalidations], &text)
    family(
      "carabiner_redis_near_reads_total", "result", "Records that were read, by whether they were in memory.",
      ["hit": metrics.nearHits, "miss": metrics.nearMisses], &text)
    text.single(
      "carabiner_redis_malformed_total", .counter, "Values in Redis that were not valid.", metrics.malformedValues)
  }

  private func writeReads(_ metrics: RedisMetrics, _ text: inout some MetricSink) {
    let name = "carabiner_redis_read_seconds"
    text.family(name, .histogram, "Time of a round of reads.")
    var total = 0
    for (index, count) in metrics.readCounts.enumerated() {
      total += count
      let bound = index < metrics.readBounds.count ? "\(metrics.readBounds[index])" : "+Inf"
      text.sample("\(name)_bucket", [("le", bound)], Double(total))
    }
    text.sample("\(name)_sum", [], metrics.readSeconds)
    text.sample("\(name)_count", [], Double(total))
  }
}
