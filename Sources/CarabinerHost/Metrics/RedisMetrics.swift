internal import CarabinerGateway
internal import CarabinerRedis

/// The metrics of a store in Redis, and of the state that gateways share there.
struct RedisMetrics {
  private let figures: RedisFigures?
  private let uses: [RedisFigures.Use]
  private let commands: [String: Int]

  init(store: RedisNormalizedCache?, shared: SharedStore?) {
    figures = store?.figures
    let shared = shared?.figures
    uses = (figures?.uses ?? []) + [shared?.use].compactMap(\.self)
    commands = (figures?.commands ?? [:]).merging(shared?.commands ?? [:]) { $0 + $1 }
  }

  /// Adds the metrics to a sink.
  func write(to text: inout some MetricSink) {
    guard !uses.isEmpty else { return }
    writeConnections(&text)
    if let figures { write(figures, &text) }
  }

  private func writeConnections(_ text: inout some MetricSink) {
    func family(_ name: String, _ kind: MetricKind, _ help: String, _ value: (RedisFigures.Use) -> Int) {
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

  private func write(_ figures: RedisFigures, _ text: inout some MetricSink) {
    writeReads(figures, &text)
    text.single(
      "carabiner_redis_budget_exhausted_total", .counter, "Reads that had no answer within read-budget.", figures.exhaustedBudgets
    )
    family(
      "carabiner_redis_writes_dropped_total", "reason", "Writes to the store that were dropped, by the reason.",
      figures.droppedWrites, &text)
    text.single("carabiner_redis_write_queue_bytes", .gauge, "Bytes of writes that wait for Redis.", figures.queuedBytes)
    family(
      "carabiner_redis_invalidations_total", "direction", "Messages about changed fields, to other nodes and from them.",
      ["sent": figures.sentInvalidations, "received": figures.receivedInvalidations], &text)
    family(
      "carabiner_redis_near_reads_total", "result", "Records that were read, by whether they were in memory.",
      ["hit": figures.nearHits, "miss": figures.nearMisses], &text)
    text.single(
      "carabiner_redis_malformed_total", .counter, "Values in Redis that were not valid.", figures.malformedValues)
  }

  private func writeReads(_ figures: RedisFigures, _ text: inout some MetricSink) {
    let name = "carabiner_redis_read_seconds"
    text.family(name, .histogram, "Time of a round of reads.")
    var total = 0
    for (index, count) in figures.readCounts.enumerated() {
      total += count
      let bound = index < figures.readBounds.count ? "\(figures.readBounds[index])" : "+Inf"
      text.sample("\(name)_bucket", [("le", bound)], Double(total))
    }
    text.sample("\(name)_sum", [], figures.readSeconds)
    text.sample("\(name)_count", [], Double(total))
  }
}
