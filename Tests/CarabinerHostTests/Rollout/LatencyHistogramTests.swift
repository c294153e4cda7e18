import Testing

@testable import CarabinerHost

@Suite("The histogram of latencies")
struct LatencyHistogramTests {
  @Test(
    "percentiles of a known series are right to a 64th", arguments: [1, 63, 64, 65, 1_000, 1_000_000, 3_000_000_000] as [UInt64])
  func percentiles(unit: UInt64) {
    var histogram = LatencyHistogram()
    for value in 1...1_000 { histogram.record(UInt64(value) * unit) }
    for (share, exact) in [(0.5, 500), (0.9, 900), (0.99, 990), (1.0, 1_000)] as [(Double, UInt64)] {
      let found = histogram.percentile(share)
      #expect(found >= exact * unit)
      #expect(found <= exact * unit + exact * unit / 64)
    }
    #expect(histogram.maximum == 1_000 * unit)
    #expect(histogram.count == 1_000)
  }

  @Test("an empty histogram returns zero, and the shortest and longest possible latencies are recorded")
  func extremes() {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(0.99) == 0)
    histogram.record(0)
    histogram.record(.max)
    #expect(histogram.percentile(0.5) == 0)
    #expect(histogram.percentile(1) == .max)
  }
}
