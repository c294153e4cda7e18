/// The distribution of times between two samples of a histogram.
struct HistogramDifference: Sendable {
  private let buckets: [(bound: Double, count: Double)]

  /// - Parameter buckets: Upper bounds, with the number of times at or below each. The last bound is infinite.
  init(_ buckets: [(bound: Double, count: Double)]) { self.buckets = buckets.sorted { $0.bound < $1.bound } }

  /// The quantile for `share`, computed like Prometheus' histogram_quantile(); nil if there are no values.
  func quantile(_ share: Double) -> Double? {
    guard let all = buckets.last?.count, all > 0 else { return nil }
    let rank = share * all
    guard let index = buckets.firstIndex(where: { $0.count >= rank }) else { return nil }
    let below = index == 0 ? (bound: 0, count: 0) : buckets[index - 1]
    // For values above the last finite bound, that bound is the best estimate.
    guard buckets[index].bound.isFinite else { return below.bound }
    let inside = buckets[index].count - below.count
    guard inside > 0 else { return buckets[index].bound }
    return below.bound + (buckets[index].bound - below.bound) * (rank - below.count) / inside
  }
}
