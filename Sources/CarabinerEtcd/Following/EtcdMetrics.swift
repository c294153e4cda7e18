/// The state of keys that are followed, for metrics.
package struct EtcdMetrics: Sendable, Hashable {
  /// Whether the keys are watched, so changes are reported at once.
  package internal(set) var isUp = false
  /// The revision of the last view; 0 before the first one.
  package internal(set) var revision: Int64 = 0
  /// The number of failures by kind.
  package internal(set) var failures: [EtcdError.Code: Int] = [:]
  /// How often a watch has begun.
  package internal(set) var watches = 0

  package init() {}
}
