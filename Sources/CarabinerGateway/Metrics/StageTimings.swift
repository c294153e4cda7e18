package import Carabiner
internal import Synchronization

/// How long the stages of some operations took, by plugin and hook, written out for Prometheus.
///
/// A hook that only looks costs a few nanoseconds, and reading the clock before and after it costs ten times that. So the stages of
/// every nth operation are timed, by the same tracer that `carabiner run --trace` uses, and the others pay nothing.
package final class StageTimings: ChainTracer {
  /// Of how many operations one is timed, unless somebody says otherwise.
  package static let defaultInterval = 64
  /// How many series there may be; plugins' names come from manifests, and a host may see many of those.
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

  /// - Parameter interval: Of how many operations one is timed; 0 for none.
  package init(interval: Int = StageTimings.defaultInterval) { self.interval = UInt64(max(0, interval)) }

  /// Who is to be told what the stages of the next operation do; nil if nobody is.
  ///
  /// - Parameter other: Who is to be told in any case.
  package func nextTracer(beside other: (any ChainTracer)? = nil) -> (any ChainTracer)? {
    guard interval > 0, operations.next() % interval == 0 else { return other }
    timed.add()
    return other.map { TimedTracer(timings: self, other: $0) } ?? self
  }

  package func record(_ event: StageEvent) {
    // A host's name could come from a plugin that rewrites URLs.
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

  /// The times of one hook of a stage.
  package struct Summary: Sendable, Hashable {
    package let kind: StageEvent.Kind
    /// The plugin, or what a stage of the host's own is called.
    package let name: String
    package let hook: String
    /// How often it was timed.
    package let count: UInt64
    /// How long that took together.
    package let seconds: Double
  }

  /// What was timed so far, by stage, name and hook.
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

  /// The text of the metrics.
  package func write(to text: inout PrometheusText) {
    text.single(
      "carabiner_operations_timed_total", .counter, "Operations whose stages were timed; the others pay nothing for it.",
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
