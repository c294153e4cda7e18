/// A histogram of durations, in the form of Prometheus.
package final class LatencyBuckets: Sendable {
  /// The upper bounds of the buckets, in nanoseconds.
  package struct Bounds: Sendable {
    let nanoseconds: [UInt64]

    /// For durations that include network waits: 100 µs to 10 s.
    package static let ofRequests = Bounds(
      nanoseconds: [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
      ])
    /// For hooks of stages, most of which only compute: 250 ns to 1 s.
    package static let ofStages = Bounds(
      nanoseconds: [
        250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
      ])
  }

  private let bounds: Bounds
  private let counts: [AtomicCount]
  private let sum = AtomicCount()

  /// Creates an empty histogram.
  package init(_ bounds: Bounds) {
    self.bounds = bounds
    counts = (0...bounds.nanoseconds.count).map { _ in AtomicCount() }
  }

  /// Records a duration.
  package func record(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    let nanoseconds = UInt64(max(0, seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
    counts[bounds.nanoseconds.firstIndex { nanoseconds <= $0 } ?? bounds.nanoseconds.count].add()
    sum.add(nanoseconds)
  }

  /// The number of recorded durations.
  package var count: UInt64 { counts.reduce(0) { $0 + $1.value } }
  /// The sum of the recorded durations, in seconds.
  package var seconds: Double { Double(sum.value) / 1e9 }

  /// Appends the samples of the histogram to a text.
  package func write(_ name: String, _ labels: [(String, String)], to text: inout some MetricSink) {
    var total: UInt64 = 0
    for (index, count) in counts.enumerated() {
      total += count.value
      let bound = index < bounds.nanoseconds.count ? "\(Double(bounds.nanoseconds[index]) / 1e9)" : "+Inf"
      text.sample("\(name)_bucket", labels + [("le", bound)], Double(total))
    }
    text.sample("\(name)_sum", labels, seconds)
    text.sample("\(name)_count", labels, Double(total))
  }
}
