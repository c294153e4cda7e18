package import Carabiner
internal import Synchronization

/// Durations of the stages of sampled operations, by plugin and hook, in Prometheus' text format.
///
/// A hook that only reads takes a few nanoseconds, and reading the clock before and after it takes ten times as long. So only
/// every nth operation is timed, with the tracer that `carabiner run --trace` uses.
package final class StageTimings: ChainTracer {
  /// The default interval: one of this many operations is timed.
  package static let defaultInterval = 64
  /// The maximum number of series. Plugin names come from manifests, and a host may load many manifests over time.
  static let maximumSeries = 4096

  private struct Key: Hashable {
    let kind: StageEvent.Kind
    let name: String
    let hook: String
  }

  private let interval: UInt64
  private let operations = AtomicCount()
  private let timed = AtomicCount()
  private let series = Mutex<[Key: LatencyBuckets]>([:])

  /// - Parameter interval: One of this many operations is timed; 0 for none.
  package init(interval: Int = StageTimings.defaultInterval) { self.interval = UInt64(max(0, interval)) }

  /// Returns the tracer for the stages of the next operation; nil if it is neither traced nor timed.
  ///
  /// - Parameter other: A tracer that is used in any case.
  package func nextTracer(beside other: (any ChainTracer)? = nil) -> (any ChainTracer)? {
    guard interval > 0, operations.next() % interval == 0 else { return other }
    timed.add()
    return other.map { TimedTracer(timings: self, other: $0) } ?? self
  }

  package func record(_ event: StageEvent) {
    // The host name of the upstream is not used, because a plugin that rewrites URLs could create any number of names.
    let name = event.kind == .transport ? "upstream" : event.stage
    let key = Key(kind: event.kind, name: name, hook: event.hook)
    let buckets = series.withLock { series in
      if let known = series[key] { return known as LatencyBuckets? }
      guard series.count < Self.maximumSeries else { return nil }
      let new = LatencyBuckets(.ofStages)
      series[key] = new
      return new
    }
    buckets?.record(event.duration)
  }

  /// The summed durations of one hook of a stage.
  package struct Summary: Sendable, Hashable {
    package let kind: StageEvent.Kind
    /// The name of the plugin or of the host's own stage.
    package let name: String
    package let hook: String
    /// The number of timed calls.
    package let count: UInt64
    /// The sum of their durations, in seconds.
    package let seconds: Double
  }

  /// The durations so far, sorted by stage, name and hook.
  package var summaries: [Summary] {
    sortedSeries.map { key, buckets in
      Summary(kind: key.kind, name: key.name, hook: key.hook, count: buckets.count, seconds: buckets.seconds)
    }
  }

  private var sortedSeries: [(key: Key, value: LatencyBuckets)] {
    series.withLock { series in
      series.sorted { ($0.key.kind.rawValue, $0.key.name, $0.key.hook) < ($1.key.kind.rawValue, $1.key.name, $1.key.hook) }
    }
  }

  /// Appends the metrics to a text.
  package func write(to text: inout some MetricSink) {
    text.single(
      "carabiner_operations_timed_total", .counter, "Operations whose stages were timed.",
      timed.value)
    let series = sortedSeries
    guard !series.isEmpty else { return }
    let name = "carabiner_stage_duration_seconds"
    text.family(name, .histogram, "Time in a stage's hook, waiting included, of the operations that were timed.")
    for (key, buckets) in series {
      buckets.write(name, [("stage", key.kind.rawValue), ("plugin", key.name), ("hook", key.hook)], to: &text)
    }
  }
}
