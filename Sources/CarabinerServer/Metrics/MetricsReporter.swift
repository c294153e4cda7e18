internal import CarabinerGateway
internal import CoreMetrics
internal import Synchronization

/// Reports metrics to a backend of swift-metrics at an interval.
final class MetricsReporter: Sendable {
  private let factory: any MetricsFactory
  private let interval: Duration

  /// - Parameter interval: The time between two reports.
  init(_ factory: any MetricsFactory, interval: Duration) {
    self.factory = factory
    self.interval = interval
  }

  /// Reports now and then at each interval. When the task is cancelled, it reports once more and ends.
  func start(_ write: @escaping @Sendable (inout MetricSamples) -> Void) -> Task<Void, Never> {
    let series = ReportedSeries(factory)
    let interval = interval
    return Task {
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
final class ReportedSeries: Sendable {
  private struct State {
    var counters: [MetricSamples.Series: (counter: FloatingPointCounter, value: Double)] = [:]
    var meters: [MetricSamples.Series: Meter] = [:]
  }

  private let factory: any MetricsFactory
  private let state = Mutex(State())

  init(_ factory: any MetricsFactory) { self.factory = factory }

  func report(_ samples: MetricSamples) {
    let factory = factory
    state.withLock { state in
      for (series, value) in samples.values {
        if series.isCounter {
          let (counter, last) =
            state.counters[series] ?? (
              FloatingPointCounter(label: series.name, dimensions: series.dimensions, factory: factory), 0
            )
          // A count below the last one has restarted at zero: a plugin was loaded again.
          let growth = value < last ? value : value - last
          if growth > 0 { counter.increment(by: growth) }
          state.counters[series] = (counter, value)
        } else {
          let meter = state.meters[series] ?? Meter(label: series.name, dimensions: series.dimensions, factory: factory)
          meter.set(value)
          state.meters[series] = meter
        }
      }
      // Plugins that a reload removed have no series any more.
      for (series, entry) in state.counters where samples.values[series] == nil {
        entry.counter.destroy()
        state.counters[series] = nil
      }
      for (series, meter) in state.meters where samples.values[series] == nil {
        meter.destroy()
        state.meters[series] = nil
      }
    }
  }

  /// Removes the gauges: their values do not hold any longer. Counters keep their totals.
  func end() {
    state.withLock { state in
      for meter in state.meters.values { meter.destroy() }
      state.meters = [:]
    }
  }
}
