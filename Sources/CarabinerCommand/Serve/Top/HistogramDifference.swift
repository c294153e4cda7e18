/// How often times of each size occurred between two looks at a histogram.
struct HistogramDifference: Sendable {
  private let buckets: [(bound: Double, count: Double)]

  /// - Parameter buckets: Upper bounds, and how many times lay at or below; the last bound is infinite.
  init(_ buckets: [(bound: Double, count: Double)]) { self.buckets = buckets.sorted { $0.bound < $1.bound } }

  /// The time that this share of all stays at or below, as Prometheus' histogram_quantile() gives it; nil if there were none.
  func quantile(_ share: Double) -> Double? {
    guard let all = buckets.last?.count, all > 0 else { return nil }
    let rank = share * all
    guard let index = buckets.firstIndex(where: { $0.count >= rank }) else { return nil }
    let below = index == 0 ? (bound: 0, count: 0) : buckets[index - 1]
    // Beyond the last bound nothing is known but that it was more.
    guard buckets[index].bound.isFinite else { return below.bound }
    let inside = buckets[index].count - below.count
    guard inside > 0 else { return buckets[index].bound }
    return below.bound + (buckets[index].bound - below.bound) * (rank - below.count) / inside
  }
}
