/// Where the plugin of a test runs.
package enum TrialIsolation: String, Sendable, CaseIterable {
  /// In the confined process of the check.
  case inProcess = "in-process"
  /// In a worker, as with `isolation: worker` in a manifest. The process of the check is its host.
  case worker
}
