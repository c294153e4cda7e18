/// The kind of a metric.
package enum MetricKind: String, Sendable {
  case counter, gauge, histogram
}

/// A destination of metrics. Each metric is announced by ``family(_:_:_:)``, and its samples follow.
package protocol MetricSink {
  /// Begins a metric.
  mutating func family(_ name: String, _ kind: MetricKind, _ help: String)

  /// Adds a value of the current metric.
  ///
  /// A histogram has samples with the suffixes `_bucket` (with the label `le`), `_sum` and `_count`.
  mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double)
}

extension MetricSink {
  /// Adds a metric with one sample.
  package mutating func single(_ name: String, _ kind: MetricKind, _ help: String, _ value: some BinaryInteger) {
    family(name, kind, help)
    sample(name, [], Double(value))
  }
}
