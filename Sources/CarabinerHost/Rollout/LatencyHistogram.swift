/// A histogram of latencies in constant memory. Each bucket is at most 1.6 % wide.
package struct LatencyHistogram: Sendable {
  /// The number of buckets per doubling is two to the power of this.
  private static let precisionBits = 6
  private static let bucketsPerDoubling = 1 << precisionBits

  private var counts = [Int](repeating: 0, count: (64 - Self.precisionBits + 1) * Self.bucketsPerDoubling)
  /// The number of recorded latencies.
  package private(set) var count = 0
  /// The largest latency in nanoseconds.
  private(set) var maximum: UInt64 = 0

  /// Creates an empty histogram.
  package init() {}

  /// Records a latency.
  ///
  /// - Parameter nanoseconds: The latency in nanoseconds.
  package mutating func record(_ nanoseconds: UInt64) {
    counts[Self.bucket(of: nanoseconds)] += 1
    count += 1
    maximum = max(maximum, nanoseconds)
  }

  /// The latency in nanoseconds that this share of all does not exceed; 0 if none was recorded.
  package func percentile(_ share: Double) -> UInt64 {
    let wanted = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for bucket in counts.indices where counts[bucket] > 0 {
      seen += counts[bucket]
      if seen >= wanted { return min(Self.upperBound(of: bucket), maximum) }
    }
    return 0
  }

  /// Small values have a bucket each. For larger values, the leading bits select the bucket.
  private static func bucket(of value: UInt64) -> Int {
    let shift = max(0, 64 - value.leadingZeroBitCount - precisionBits - 1)
    return shift * bucketsPerDoubling + Int(value >> UInt64(shift))
  }

  private static func upperBound(of bucket: Int) -> UInt64 {
    let shift = max(0, bucket / bucketsPerDoubling - 1)
    let leading = UInt64(bucket - shift * bucketsPerDoubling)
    return leading << UInt64(shift) | ((1 << UInt64(shift)) - 1)
  }
}
