internal import CarabinerGateway
internal import CoreMetrics

/// Reports metrics to a backend of swift-metrics at an interval.
final class MetricsReporter: Sendable {
  /// A shorter interval would keep a core busy.
  static let minimumInterval = Duration.milliseconds(100)

  private let factory: any MetricsFactory
  private let interval: Duration

  /// - Parameter interval: The time between two reports; at least ``minimumInterval`` is used.
  init(_ factory: any MetricsFactory, interval: Duration) {
    self.factory = factory
    self.interval = max(interval, Self.minimumInterval)
  }

  /// Reports now and then at each interval. When the task is cancelled, it reports once more and ends.
  func start(_ write: @escaping @Sendable (inout MetricSamples) -> Void) -> Task<Void, Never> {
    Task { [factory, interval] in
      var series = ReportedSeries(factory)
      var isRunning = true
      while isRunning {
        isRunning = !Task.isCancelled
        var samples = MetricSamples()
        write(&samples)
        series.report(samples)
        if isRunning { try? await Task.sleep(for: interval) }
      }
      series.end()
    }
  }
}

/// The samples of one report.
struct MetricSamples: MetricSink, Sendable {
  /// A metric with its labels.
  struct Series: Hashable, Sendable {
    struct Label: Hashable, Sendable {
      let name: String
      let value: String
    }

    let name: String
    let labels: [Label]
    /// Whether the value only grows. The samples of a histogram do, because they are counts and sums.
    let isCounter: Bool

    var dimensions: [(String, String)] { labels.map { ($0.name, $0.value) } }
  }

  private(set) var values: [Series: Double] = [:]
  private var kind = MetricKind.gauge

  mutating func family(_ name: String, _ kind: MetricKind, _ help: String) { self.kind = kind }

  mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    let series = Series(
      name: name, labels: labels.map { Series.Label(name: $0.0, value: $0.1) }, isCounter: kind != .gauge)
    values[series] = value
  }
}

/// The metrics that a backend has, with the values last reported.
struct ReportedSeries {
  private let factory: any MetricsFactory
  private var counters: [MetricSamples.Series: (counter: FloatingPointCounter, value: Double)] = [:]
  private var meters: [MetricSamples.Series: Meter] = [:]

  init(_ factory: any MetricsFactory) { self.factory = factory }

  mutating func report(_ samples: MetricSamples) {
    for (series, value) in samples.values {
      if series.isCounter { count(series, value) } else { set(series, value) }
    }
    // Plugins that a reload removed have no series any more.
    for (series, entry) in counters where samples.values[series] == nil {
      entry.counter.destroy()
      counters[series] = nil
    }
    for (series, meter) in meters where samples.values[series] == nil {
      meter.destroy()
      meters[series] = nil
    }
  }

  private mutating func count(_ series: MetricSamples.Series, _ value: Double) {
    let known = counters[series]
    let counter =
      known?.counter ?? FloatingPointCounter(label: series.name, dimensions: series.dimensions, factory: factory)
    let last = known?.value ?? 0
    // A count below the last one has restarted at zero: a plugin was loaded again.
    let growth = value < last ? value : value - last
    if growth > 0 { counter.increment(by: growth) }
    counters[series] = (counter, value)
  }

  private mutating func set(_ series: MetricSamples.Series, _ value: Double) {
    let meter = meters[series] ?? Meter(label: series.name, dimensions: series.dimensions, factory: factory)
    meter.set(value)
    meters[series] = meter
  }

  /// Removes the gauges, because their values are out of date. Counters keep their totals.
  mutating func end() {
    for meter in meters.values { meter.destroy() }
    meters = [:]
  }
}
