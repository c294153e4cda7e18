/// News of keys that are followed.
package enum EtcdReport: Sendable, Hashable {
  /// The keys as they are now. Earlier views do not count any more. After a failure, a view means that etcd is back, even if it has no
  /// change.
  case view(EtcdView)
  /// The keys cannot be followed at the moment. The last view stays valid.
  case failure(EtcdError)

  fileprivate func replaces(_ other: EtcdReport) -> Bool {
    switch (self, other) {
    case (.view, .view), (.failure, .failure): true
    case (.view, .failure), (.failure, .view): false
    }
  }
}

extension [EtcdReport] {
  /// Adds a report in place of an earlier one of its kind, so that at most two wait for a slow reader.
  mutating func add(_ report: EtcdReport) {
    removeAll { report.replaces($0) }
    append(report)
  }
}
