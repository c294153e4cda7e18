/// The figures of a store in Redis, for metrics.
package struct RedisMetrics: Sendable {
  /// A client: `store` for commands, or `invalidations` for messages of other nodes.
  package struct Use: Sendable {
    package let name: String
    package let isUp: Bool
    /// Whether exhausted budgets have closed a connection that is not open again.
    package let isCircuitOpen: Bool
    /// How often a connection was opened again.
    package let reconnects: Int
  }

  package let uses: [Use]
  /// Commands by their result: `ok`, `error`, or the reason why there is none.
  package let commands: [String: Int]
  /// The upper bounds of the buckets for times of reads in seconds, their counts with one above all bounds, and the sum in seconds.
  package let readBounds: [Double]
  package let readCounts: [Int]
  package let readSeconds: Double
  package let exhaustedBudgets: Int
  /// Dropped writes by the reason.
  package let droppedWrites: [String: Int]
  package let queuedBytes: Int
  package let sentInvalidations: Int
  package let receivedInvalidations: Int
  /// Reads of records that the near cache answered completely, and all other ones.
  package let nearHits: Int
  package let nearMisses: Int
  package let malformedValues: Int
}

extension RedisNormalizedCache {
  /// The figures since the start.
  package var metrics: RedisMetrics {
    let (commands, times) = (client.counters.commands, counters.readTimes.summary)
    return RedisMetrics(
      uses: [
        use("store", client, isUp: isAvailable),
        use("invalidations", subscription, isUp: subscription.isAvailable),
      ],
      commands: commands, readBounds: ReadTimes.bounds.map { Double($0) / 1e9 }, readCounts: times.counts,
      readSeconds: Double(times.nanoseconds) / 1e9, exhaustedBudgets: counters.exhaustedBudgets,
      droppedWrites: counters.drops.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }, queuedBytes: queue.bytes,
      sentInvalidations: counters.sentInvalidations, receivedInvalidations: counters.receivedInvalidations,
      nearHits: counters.nearHits, nearMisses: counters.nearMisses, malformedValues: counters.malformedValues)
  }

  private func use(_ name: String, _ client: RedisClient, isUp: Bool) -> RedisMetrics.Use {
    RedisMetrics.Use(
      name: name, isUp: isUp, isCircuitOpen: client.counters.openCircuits > 0,
      reconnects: client.counters.reconnects)
  }
}
